namespace QuickSilver.Simulation;

// Loss in bursts after Gilbert and Elliott: a link is in a good or a bad state, and may change with each datagram.
internal sealed record BurstLoss
{
    public double BeginProbability { get; init => field = LinkModel.Probability(value); } = 0.01;

    public double EndProbability { get; init => field = LinkModel.Probability(value); } = 0.2;

    public double LossInBurst { get; init => field = LinkModel.Probability(value); } = 0.9;
}

// How one direction of one link behaves. A value: change it with "with" and assign it.
internal sealed record LinkModel
{
    public double Loss { get; init => field = Probability(value); }

    public BurstLoss? Burst { get; init; }

    public double Duplicate { get; init => field = Probability(value); }

    /// <summary>How often a datagram is held back while others overtake it, and for how long at most.</summary>
    public double Reorder { get; init => field = Probability(value); }

    public TimeSpan ReorderHold { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(1);

    public TimeSpan Delay { get; init => field = NotNegative(value); } = TimeSpan.FromMicroseconds(50);

    /// <summary>Up to this much more, drawn for each send; order is kept, only Reorder breaks it.</summary>
    public TimeSpan Jitter { get; init => field = NotNegative(value); }

    /// <summary>Null: as fast as one likes. Else what does not fit in QueueLimit of waiting is lost.</summary>
    public long? BytesPerSecond
    {
        get;
        init => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A rate is above zero.");
    }

    public TimeSpan QueueLimit { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(50);

    /// <summary>Datagrams over this size vanish without a word (F11). Null: none do.</summary>
    public int? LargestDatagramBytes { get; init; }

    /// <summary>What is sent to a group vanishes while unicast works (F12).</summary>
    public bool MulticastOff { get; init; }

    /// <summary>How often one bit of a datagram is flipped on the way (F10, F18).</summary>
    public double Corrupt { get; init => field = Probability(value); }

    internal static double Probability(double value) =>
        value is >= 0 and <= 1 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A probability is from 0 to 1.");

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A time is not negative.");
}
