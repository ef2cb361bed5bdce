namespace QuickSilver.Simulation;

/// <summary>
/// The properties of a node's machine. Immutable: change it with <c>with</c> and set <see cref="SimulatedNode.Model"/>, while the
/// simulation runs, from code that the simulation runs, or between two runs. Probabilities are from 0 to 1 and times are not negative.
/// Other values are refused with <see cref="ArgumentOutOfRangeException"/>.
/// </summary>
public sealed record NodeModel
{
    /// <summary>The time that the core thread takes for each datagram that it receives. Default 0: receive buffers rarely fill.</summary>
    public TimeSpan CostPerDatagram { get; init => field = NotNegative(value); }

    /// <summary>The time for each other event (an alarm, a request, a step of the application). Default 0.</summary>
    public TimeSpan CostPerEvent { get; init => field = NotNegative(value); }

    /// <summary>
    /// The time for each datagram that the node sends, which leaves only afterwards. A datagram to a group counts once. Default 0.
    /// </summary>
    public TimeSpan CostPerSentDatagram { get; init => field = NotNegative(value); }

    /// <summary>The time for each 1,000 bytes that the node receives or sends in datagrams. Default 0.</summary>
    public TimeSpan CostPerKilobyte { get; init => field = NotNegative(value); }

    /// <summary>
    /// The bandwidth of the network card for sends, whatever the destination but the node itself. While more than 20 ms of data waits, the
    /// system has no buffers for a send. Greater than 0; null (default): unlimited.
    /// </summary>
    public long? SendBytesPerSecond
    {
        get;
        init => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "Must be above 0.");
    }

    /// <summary>The probability that the system has no buffers for a send. Default 0.</summary>
    public double SendBusyProbability { get; init => field = LinkModel.Probability(value); }

    /// <summary>The probability that a datagram is lost at this node's network card, whatever its sender. Default 0.</summary>
    public double InboundLoss { get; init => field = LinkModel.Probability(value); }

    /// <summary>
    /// The system's limit for receive buffers in bytes, below the size that the node requests. Not negative; null (default): no limit.
    /// </summary>
    public int? ReceiveBufferLimitBytes
    {
        get;
        init => field = value is null or >= 0
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The size must not be negative.");
    }

    /// <summary>
    /// The probability that segments of a run that arrive together are delivered as one run, as with receive offload. Default 0.5.
    /// </summary>
    public double CoalesceProbability { get; init => field = LinkModel.Probability(value); } = 0.5;

    /// <summary>
    /// Whether the system supports segmentation offload. If false, a run is one datagram. Set it before the node starts. Default true.
    /// </summary>
    public bool SegmentationOffload { get; init; } = true;

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must not be negative.");
}
