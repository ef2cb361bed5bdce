namespace QuickSilver.Simulation;

/// <summary>
/// Loss in bursts, after Gilbert and Elliott: a link is in a good or a bad state, and may change with each datagram.
/// Probabilities are from 0 to 1; others are refused with <see cref="ArgumentOutOfRangeException"/>.
/// </summary>
public sealed record BurstLoss
{
    /// <summary>How often a burst begins, per datagram. Default 0.01.</summary>
    public double BeginProbability { get; init => field = LinkModel.Probability(value); } = 0.01;

    /// <summary>How often it ends, per datagram. Default 0.2: five datagrams long on average.</summary>
    public double EndProbability { get; init => field = LinkModel.Probability(value); } = 0.2;

    /// <summary>How many are lost within one. Default 0.9.</summary>
    public double LossInBurst { get; init => field = LinkModel.Probability(value); } = 0.9;
}

/// <summary>
/// How one direction of one link behaves. Immutable: change it with <c>with</c> and set it. Probabilities are per datagram, from
/// 0 to 1, and times are not negative; other values are refused with <see cref="ArgumentOutOfRangeException"/>. The streams to
/// the membership service lose nothing, as TCP: there a loss is a delay.
/// </summary>
public sealed record LinkModel
{
    /// <summary>How many datagrams are lost, evenly. Default 0.</summary>
    public double Loss { get; init => field = Probability(value); }

    /// <summary>Loss in bursts, beside <see cref="Loss"/>. Default: none.</summary>
    public BurstLoss? Burst { get; init; }

    /// <summary>How many datagrams arrive twice. Default 0.</summary>
    public double Duplicate { get; init => field = Probability(value); }

    /// <summary>How many datagrams are held back while others overtake them. Default 0.</summary>
    public double Reorder { get; init => field = Probability(value); }

    /// <summary>For how long at most. Default 1 ms.</summary>
    public TimeSpan ReorderHold { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(1);

    /// <summary>How long a datagram takes. Default 50 µs.</summary>
    public TimeSpan Delay { get; init => field = NotNegative(value); } = TimeSpan.FromMicroseconds(50);

    /// <summary>Up to this much more, drawn for each send; order is kept, only <see cref="Reorder"/> breaks it. Default 0.</summary>
    public TimeSpan Jitter { get; init => field = NotNegative(value); }

    /// <summary>
    /// Bandwidth; what does not fit into <see cref="QueueLimit"/> of waiting is lost. Above 0; null (default): as fast as one likes.
    /// </summary>
    public long? BytesPerSecond
    {
        get;
        init => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A rate is above zero.");
    }

    /// <summary>How long a datagram may wait for bandwidth. Default 50 ms.</summary>
    public TimeSpan QueueLimit { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(50);

    /// <summary>Datagrams of more bytes vanish without a word, as in an MTU black hole. Null (default): none do.</summary>
    public int? LargestDatagramBytes { get; init; }

    /// <summary>What is sent to a group vanishes while unicast works. Default: false.</summary>
    public bool MulticastOff { get; init; }

    /// <summary>How often one bit of a datagram is flipped on the way. Default 0.</summary>
    public double Corrupt { get; init => field = Probability(value); }

    internal static double Probability(double value) =>
        value is >= 0 and <= 1 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A probability is from 0 to 1.");

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A time is not negative.");
}
