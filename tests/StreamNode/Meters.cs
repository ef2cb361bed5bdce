using System.Diagnostics.Metrics;
using System.Globalization;

namespace StreamNode;

// One instrument of the library's meter, as a monitoring system reads it.
internal static class Meters
{
    /// <summary>The value of an instrument without reasons, summed over the nodes of the process.</summary>
    public static long ReadNumber(string name) => long.Parse(Read(name), CultureInfo.InvariantCulture);

    /// <summary>The value, or "REASON=VALUE" words where measurements have a tag of reasons.</summary>
    public static string Read(string name)
    {
        var values = new SortedDictionary<string, double>(StringComparer.Ordinal);
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == "QuickSilver" && instrument.Name == name)
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            },
        };
        void Note(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            string reason = "";
            foreach (var (key, text) in tags)
            {
                reason = key == "quicksilver.drop.reason" ? $"{text}" : reason;
            }

            values[reason] = values.GetValueOrDefault(reason) + value;
        }

        listener.SetMeasurementEventCallback<long>((_, value, tags, _) => Note(value, tags));
        listener.SetMeasurementEventCallback<int>((_, value, tags, _) => Note(value, tags));
        listener.SetMeasurementEventCallback<double>((_, value, tags, _) => Note(value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        return string.Join(' ', values.Select(one =>
            (one.Key.Length == 0 ? "" : one.Key + "=") + one.Value.ToString(CultureInfo.InvariantCulture)));
    }
}
