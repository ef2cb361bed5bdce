namespace QuickSilver.Simulation;

// What a random schedule may do, and how hard. The bounds matter: a pause or a partition that outlasts the failure
// detector is another case (removal) than one that does not.
internal sealed record FaultPlan
{
    public required IReadOnlyList<string> Faults { get; init; }

    /// <summary>Nodes that may be paused, cut off or short of buffers.</summary>
    public required IReadOnlyList<int> Nodes { get; init; }

    /// <summary>Nodes that may crash (F4); none by default.</summary>
    public IReadOnlyList<int> Crashable { get; init; } = [];

    public TimeSpan From { get; init; }

    /// <summary>From here on all is healed.</summary>
    public required TimeSpan Until { get; init; }

    /// <summary>How long one fault lasts, and how long its kind then rests, at most.</summary>
    public TimeSpan LongestFault { get; init; } = TimeSpan.FromSeconds(2);

    public TimeSpan LongestRest { get; init; } = TimeSpan.FromSeconds(2);

    public TimeSpan LongestPause { get; init; } = TimeSpan.FromSeconds(1);

    public TimeSpan LongestPartition { get; init; } = TimeSpan.FromSeconds(2);

    public double HighestLoss { get; init; } = 0.1;
}
