namespace QuickSilver.Tool.Perf;

// A distribution of times, since the node started. The class of a percentile is exact, and its limits differ by a factor of two.
internal sealed record Durations(long Count, double MeanMicros, double P50Micros, double P99Micros)
{
    /// <summary>Null without samples.</summary>
    public static Durations? Of(TimeHistogram times) => times.Count == 0
        ? null
        : new(times.Count, Micros(times.Mean), Micros(times.Percentile(0.5)), Micros(times.Percentile(0.99)));

    private static double Micros(TimeSpan time) => Math.Round(time.TotalMicroseconds, 1);
}

// The papers' vital signs of the node that was measured, since it started. The field names are what scripts read: they are never renamed.
internal sealed record VitalSigns
{
    /// <summary>By the level of the ring; null where this node leads none.</summary>
    public required Durations?[] TokenRoundTrip { get; init; }

    public required Durations?[] TimeToAggregate { get; init; }

    public Durations? TimeToAcknowledge { get; init; }

    public Durations? AlarmLateness { get; init; }

    public long LateAlarms { get; init; }

    public long LongSteps { get; init; }

    public long QuantaExceeded { get; init; }

    /// <summary>Shares of the time that the core thread worked, by queue.</summary>
    public required IReadOnlyDictionary<string, double> QueueShares { get; init; }

    /// <summary>Seconds for which the core thread worked.</summary>
    public double CoreThreadSeconds { get; init; }

    public double GcPauseMillis { get; init; }

    public long PacketMemoryBytes { get; init; }

    public long RetentionBytes { get; init; }

    public long PendingPackets { get; init; }

    /// <summary>Seconds for which streams were kept from sending, by what kept them.</summary>
    public required IReadOnlyDictionary<string, double> SendLimitSeconds { get; init; }

    public long RepairRequests { get; init; }

    public long CollectiveNaksSent { get; init; }

    public long CollectiveNaksReceived { get; init; }

    public long Views { get; init; }

    public long SupersededViews { get; init; }

    public double OldestSupersededSeconds { get; init; }

    public double ConfigurationAgeSeconds { get; init; }

    public static VitalSigns Of(NodeCounters counters, NodeGauges gauges) => new()
    {
        TokenRoundTrip = [.. counters.TokenRoundTrip.Select(Durations.Of)],
        TimeToAggregate = [.. counters.TimeToAggregate.Select(Durations.Of)],
        TimeToAcknowledge = Durations.Of(counters.TimeToAcknowledge),
        AlarmLateness = Durations.Of(counters.AlarmLateness),
        LateAlarms = counters.LateAlarms,
        LongSteps = counters.LongSteps,
        QuantaExceeded = counters.QuantaExceeded,
        QueueShares = SharesOf(counters.CoreThread),
        CoreThreadSeconds = Math.Round(counters.CoreThread.Total.TotalSeconds, 3),
        GcPauseMillis = Math.Round(counters.CollectorPauseTime.TotalMilliseconds, 3),
        PacketMemoryBytes = gauges.PacketMemoryBytes,
        RetentionBytes = gauges.UnacknowledgedBytes,
        PendingPackets = gauges.PendingPackets,
        SendLimitSeconds = Enum.GetValues<SendLimit>().Where(limit => limit != SendLimit.None)
            .ToDictionary(Name, limit => Math.Round(counters.SendLimits.Of(limit).TotalSeconds, 3)),
        RepairRequests = counters.RepairRequests,
        CollectiveNaksSent = counters.CollectiveNaksSent,
        CollectiveNaksReceived = counters.CollectiveNaksReceived,
        Views = gauges.Views,
        SupersededViews = gauges.SupersededViews,
        OldestSupersededSeconds = Math.Round(gauges.OldestSupersededView.TotalSeconds, 1),
        ConfigurationAgeSeconds = Math.Round(gauges.ConfigurationAge.TotalSeconds, 1),
    };

    private static Dictionary<string, double> SharesOf(CoreThreadTimes times)
    {
        double Share(TimeSpan time) => times.Total > TimeSpan.Zero ? Math.Round(time / times.Total, 4) : 0;
        return new()
        {
            ["inboundControl"] = Share(times.InboundControl),
            ["inboundRepairs"] = Share(times.InboundRepairs),
            ["inboundData"] = Share(times.InboundData),
            ["alarms"] = Share(times.Alarms),
            ["requests"] = Share(times.Requests),
            ["outboundControl"] = Share(times.OutboundControl),
            ["outboundData"] = Share(times.OutboundData),
            ["disk"] = Share(times.Disk),
            ["other"] = Share(times.Other),
        };
    }

    private static string Name(SendLimit limit) => limit.ToString().ToLowerInvariant();
}
