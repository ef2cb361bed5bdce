using System.Diagnostics.Metrics;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Diagnostics;

// What the meter of the nodes of one cluster says, read as a collector does.
internal sealed class MeterReading : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly Dictionary<string, long> _values = [];

    public MeterReading(string cluster)
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == "QuickSilver")
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
        {
            int own = OwnTags(tags);
            if ((string?)tags[own].Value != cluster)
            {
                return;
            }

            string tag = own == 0 ? "" : $" {tags[0].Value}";
            lock (_values)
            {
                string key = instrument.Name + tag;
                _values[key] = _values.GetValueOrDefault(key) + value;
            }
        });
        _listener.Start();
    }

    /// <summary>The number of the tags of a measurement. Those of its node follow, and the cluster is the first of them.</summary>
    public static int OwnTags(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        int own = 0;
        while (tags[own].Key != "quicksilver.cluster")
        {
            own++;
        }

        return own;
    }

    /// <summary>The values of all series now, the sum over the nodes, by the name of the instrument and the first tag.</summary>
    public IReadOnlyDictionary<string, long> Read()
    {
        lock (_values)
        {
            _values.Clear();
        }

        _listener.RecordObservableInstruments();
        lock (_values)
        {
            return new Dictionary<string, long>(_values);
        }
    }

    public Task UntilAsync(string series, long value) => Patience.Until(() => Read().GetValueOrDefault(series, -1) == value);

    public void Dispose() => _listener.Dispose();
}
