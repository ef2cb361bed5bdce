using System.Diagnostics.Metrics;

namespace FlightBoard.Roles;

/// <summary>Instruments of this process's node: what only its meter has.</summary>
internal sealed class MeterFigures : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly Dictionary<string, long> _values = [];

    public MeterFigures(params string[] names)
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == "QuickSilver" && names.Contains(instrument.Name))
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, _, _) => _values[instrument.Name] = value);
        _listener.Start();
    }

    public long this[string name] => _values.GetValueOrDefault(name);

    /// <summary>Brings the values up to date.</summary>
    public void Read() => _listener.RecordObservableInstruments();

    public void Dispose() => _listener.Dispose();
}
