namespace QuickSilver.Simulation.Experiments;

// What a run showed over its time, beside the means: times in ticks of 100 ns, of virtual time.
internal sealed record LoadTraces
{
    /// <summary>From publishing to each handler.</summary>
    public required Distribution Latency { get; init; }

    /// <summary>From when a packet was sent until its sender knew that all hold it, of some packets.</summary>
    public required Distribution Ack { get; init; }

    /// <summary>The last whole round of each ring, looked at in even intervals.</summary>
    public required Distribution RingRoundTrips { get; init; }

    /// <summary>Between two tokens at the first receiver, of all levels of rings.</summary>
    public required Distribution TokenIntervals { get; init; }

    /// <summary>Messages a second at a receiver, of short intervals in the order of time.</summary>
    public required IReadOnlyList<double> RateOverTime { get; init; }

    /// <summary>Of each message of the first sender, in milliseconds, where it is kept.</summary>
    public IReadOnlyList<double> LatencyOfEach { get; init; } = [];

    /// <summary>The greatest delay of an alarm in each second.</summary>
    public required AlarmDelays SenderAlarms { get; init; }

    public required AlarmDelays ReceiverAlarms { get; init; }
}

/// <summary>How late the alarms of some nodes fired.</summary>
/// <param name="GreatestPerSecond">The greatest delay at a node in a second.</param>
/// <param name="MeanMillis">The mean over all alarms.</param>
internal sealed record AlarmDelays(Distribution GreatestPerSecond, double MeanMillis);

internal sealed record LoadOutcome(LoadFigures Figures, LoadTraces Traces);
