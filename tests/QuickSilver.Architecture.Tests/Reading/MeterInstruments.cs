using System.Diagnostics.Metrics;
using QuickSilver.Diagnostics;

namespace QuickSilver.Architecture.Tests.Reading;

// The instruments of a meter of this process: of a node with all its options, or of the runtime.
internal static class MeterInstruments
{
    public static IReadOnlyList<Instrument> Read(string name)
    {
        string cluster = Guid.NewGuid().ToString();
        var found = new List<Instrument>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter.Name == name
                    && (name != NodeMeter.Name || (string?)instrument.Meter.Scope == cluster))
                {
                    found.Add(instrument);
                }
            },
        };
        listener.Start();
        using var meter = NodeMeter.Of(
            cluster, default, () => new NodeCounters(), () => new NodeGauges(), () => new NodeCounters(), topics: () => []);
        return found;
    }
}
