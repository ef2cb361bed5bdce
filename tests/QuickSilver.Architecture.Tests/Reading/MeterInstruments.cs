using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using QuickSilver.Diagnostics;

namespace QuickSilver.Architecture.Tests.Reading;

// The instruments of a meter of this process: of nodes, or of the runtime.
internal static class MeterInstruments
{
    public static IReadOnlyList<Instrument> Read(string name)
    {
        var found = new List<Instrument>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter.Name == name)
                {
                    found.Add(instrument);
                }
            },
        };
        listener.Start();
        // The instruments of nodes begin with their first use.
        RuntimeHelpers.RunClassConstructor(typeof(NodeInstruments).TypeHandle);
        return found;
    }
}
