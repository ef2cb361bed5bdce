using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Perf;

// Microseconds; the percentiles are at most 1.6% too high, the maximum is exact.
internal sealed record Percentiles(double P50, double P99, double P999, double Max)
{
    public static Percentiles Of(LatencyHistogram histogram) => new(
        histogram.PercentileMicros(0.5), histogram.PercentileMicros(0.99), histogram.PercentileMicros(0.999), histogram.MaxMicros);
}

// The result of a measurement. Its field names are what scripts read: they are never renamed.
internal sealed record PerfReport
{
    public long? Sent { get; init; }

    public long? Delivered { get; init; }

    public long? Count { get; init; }

    public long? Gaps { get; init; }

    public long? Duplicates { get; init; }

    /// <summary>Sender: whether all was acknowledged by all in the end.</summary>
    public bool? Stable { get; init; }

    /// <summary>Sender: first message to all stable. Receiver: first to last message.</summary>
    public double Seconds { get; init; }

    public double? MessagesPerSecond { get; init; }

    /// <summary>Receiver of several senders: what came of each while all of them sent.</summary>
    public double[]? SenderMessagesPerSecond { get; init; }

    /// <summary>Jain's index of these rates: 1 if all are equal, and 1/N if one sender has all.</summary>
    public double? FairnessIndex { get; init; }

    /// <summary>The mean of the encoded payloads, the warm-up's and the markers' included.</summary>
    public double? PayloadBytes { get; init; }

    /// <summary>Payload only.</summary>
    public double? MegabitsPerSecond { get; init; }

    public Percentiles? LatencyMicros { get; init; }

    public Percentiles? RoundTripMicros { get; init; }

    /// <summary>Of requests: how many configurations of the membership service the node applied during the measurement.</summary>
    public long? ViewChanges { get; init; }

    public double CpuSeconds { get; init; }

    /// <summary>In all, from the end of the warm-up to the end, by everything in the process.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Over the steady part: without the first second (or fifth, in a short run).</summary>
    public double? AllocatedBytesPerMessage { get; init; }

    public int[] GcCollections { get; init; } = [];

    public double GcPauseMillis { get; init; }

    /// <summary>The most memory that the process has had resident, up to the report.</summary>
    public long PeakResidentBytes { get; init; }

    public long KernelDrops { get; init; }

    public long Repairs { get; init; }

    public string DatagramPath { get; init; } = "";

    public int Topics { get; init; } = 1;

    /// <summary>How long opening all topics took.</summary>
    public double? OpenSeconds { get; init; }

    /// <summary>Messages of the topic beside, from the start: sent, or taken by its reader.</summary>
    public long? BesideMessages { get; init; }

    /// <summary>At the end of the measurement.</summary>
    public JsonObject? VitalSigns { get; init; }

    public PerfReport WithUsage(ProcessUsage from, ProcessUsage to) => this with
    {
        AllocatedBytes = to.AllocatedBytes - from.AllocatedBytes,
        PeakResidentBytes = ProcessUsage.PeakResidentBytes(),
        CpuSeconds = Math.Round((to.Cpu - from.Cpu).TotalSeconds, 3),
        GcCollections = [to.Gen0 - from.Gen0, to.Gen1 - from.Gen1, to.Gen2 - from.Gen2],
        GcPauseMillis = Math.Round((to.GcPause - from.GcPause).TotalMilliseconds, 3),
    };

    public PerfReport WithPayload(long messages, long bytes) => this with
    {
        PayloadBytes = messages > 0 ? Math.Round((double)bytes / messages, 2) : 0,
    };

    /// <summary>After <see cref="WithPayload"/>.</summary>
    public PerfReport WithRate(long messages, double seconds) => this with
    {
        Seconds = Math.Round(seconds, 3),
        MessagesPerSecond = seconds > 0 ? Math.Round(messages / seconds, 1) : 0,
        MegabitsPerSecond = seconds > 0 ? Math.Round(messages * (PayloadBytes ?? 0) * 8 / 1e6 / seconds, 2) : 0,
    };

    /// <summary>After <see cref="WithRate"/>; has no effect for one sender.</summary>
    public PerfReport WithSenders(long[] messages)
    {
        double sum = messages.Sum(count => (double)count);
        double squares = messages.Sum(count => (double)count * count);
        return messages.Length == 0 || Seconds == 0 ? this : this with
        {
            SenderMessagesPerSecond = [.. messages.Select(count => Math.Round(count / Seconds, 1))],
            FairnessIndex = squares == 0 ? null : Math.Round(sum * sum / (messages.Length * squares), 4),
        };
    }

    /// <summary>What was counted from the end of the warm-up on.</summary>
    public PerfReport WithCounters(NodeReading from, NodeReading to, QuickSilverNode node) => this with
    {
        KernelDrops = to.KernelDrops - from.KernelDrops,
        Repairs = to.Repairs - from.Repairs,
        DatagramPath = node.Status.DatagramPath,
        VitalSigns = Perf.VitalSigns.Of(node),
    };

    public void Print(bool json)
    {
        JsonElement fields = JsonSerializer.SerializeToElement(this, PerfJson.Default.PerfReport);
        if (json)
        {
            Console.Out.WriteLine(fields.GetRawText());
        }
        else
        {
            Terminal.Table(Rows(fields, ""));
        }
    }

    // What has fields of its own has a row for each of them.
    private static IEnumerable<(string Name, string Value)> Rows(JsonElement of, string before) => of.EnumerateObject().SelectMany(
        field => field.Value.ValueKind == JsonValueKind.Object
            ? Rows(field.Value, $"{before}{field.Name}.")
            : [($"{before}{field.Name}", field.Value.ToString())]);
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PerfReport))]
internal sealed partial class PerfJson : JsonSerializerContext;
