namespace QuickSilver.Simulation;

/// <summary>
/// Loss in bursts, after Gilbert and Elliott: a link is in a good or a bad state, and may change with each datagram. Probabilities are from
/// 0 to 1. Other values are refused with <see cref="ArgumentOutOfRangeException"/>.
/// </summary>
public sealed record BurstLoss
{
    /// <summary>The probability per datagram that a burst starts. Default 0.01.</summary>
    public double BeginProbability { get; init => field = LinkModel.Probability(value); } = 0.01;

    /// <summary>The probability per datagram that a burst ends. Default 0.2, which means five datagrams on average.</summary>
    public double EndProbability { get; init => field = LinkModel.Probability(value); } = 0.2;

    /// <summary>The probability of loss within a burst. Default 0.9.</summary>
    public double LossInBurst { get; init => field = LinkModel.Probability(value); } = 0.9;
}

/// <summary>
/// The behavior of one direction of one link. Immutable: change it with <c>with</c> and set it. Probabilities are per datagram, from 0 to
/// 1, and times are not negative. Other values are refused with <see cref="ArgumentOutOfRangeException"/>. Streams to the membership
/// service lose nothing, as with TCP: loss delays them.
/// </summary>
public sealed record LinkModel
{
    /// <summary>The probability of uniform loss. Default 0.</summary>
    public double Loss { get; init => field = Probability(value); }

    /// <summary>Loss in bursts, in addition to <see cref="Loss"/>. Default: none.</summary>
    public BurstLoss? Burst { get; init; }

    /// <summary>The probability that a datagram arrives twice. Default 0.</summary>
    public double Duplicate { get; init => field = Probability(value); }

    /// <summary>The probability that a datagram is held back while others overtake it. Default 0.</summary>
    public double Reorder { get; init => field = Probability(value); }

    /// <summary>The maximum time for which a datagram is held back. Default 1 ms.</summary>
    public TimeSpan ReorderHold { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(1);

    /// <summary>The delay of a datagram. Default 50 µs.</summary>
    public TimeSpan Delay { get; init => field = NotNegative(value); } = TimeSpan.FromMicroseconds(50);

    /// <summary>
    /// The maximum additional delay, drawn for each send. Order is kept; only <see cref="Reorder"/> changes it. Default 0.
    /// </summary>
    public TimeSpan Jitter { get; init => field = NotNegative(value); }

    /// <summary>
    /// The bandwidth. Datagrams that would wait longer than <see cref="QueueLimit"/> are lost. Greater than 0; null (default): unlimited.
    /// </summary>
    public long? BytesPerSecond
    {
        get;
        init => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "Must be above 0.");
    }

    /// <summary>The maximum time for which a datagram waits for bandwidth. Default 50 ms.</summary>
    public TimeSpan QueueLimit { get; init => field = NotNegative(value); } = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// The maximum size of a datagram in bytes. Larger ones are lost silently, as in an MTU black hole. Null (default): no limit.
    /// </summary>
    public int? LargestDatagramBytes { get; init; }

    /// <summary>Whether multicast is lost while unicast works. Default: false.</summary>
    public bool MulticastOff { get; init; }

    /// <summary>The probability that one bit of a datagram is flipped. Default 0.</summary>
    public double Corrupt { get; init => field = Probability(value); }

    internal static double Probability(double value) =>
        value is >= 0 and <= 1 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "A probability must be 0 to 1.");

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must not be negative.");
}
