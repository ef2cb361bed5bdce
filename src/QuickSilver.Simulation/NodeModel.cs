using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation;

/// <summary>
/// The properties of a node's machine. They may be changed while the simulation runs, from code that the simulation runs or between two
/// runs. Probabilities are from 0 to 1 and times are not negative. Other values are refused with <see cref="ArgumentOutOfRangeException"/>.
/// </summary>
public sealed class NodeModel
{
    /// <summary>The time that the core thread takes for each datagram that it receives. Default 0: receive buffers rarely fill.</summary>
    public TimeSpan CostPerDatagram { get; set => field = NotNegative(value); }

    /// <summary>The time for each other event (an alarm, a request, a step of the application). Default 0.</summary>
    public TimeSpan CostPerEvent { get; set => field = NotNegative(value); }

    /// <summary>
    /// The time for each datagram that the node sends, which leaves only afterwards. A datagram to a group counts once. Default 0.
    /// </summary>
    public TimeSpan CostPerSentDatagram { get; set => field = NotNegative(value); }

    /// <summary>The time for each 1,000 bytes that the node receives or sends in datagrams. Default 0.</summary>
    public TimeSpan CostPerKilobyte { get; set => field = NotNegative(value); }

    /// <summary>
    /// The bandwidth of the network card for sends, whatever the destination. While more than 20 ms of data waits, the system has no
    /// buffers for a send. Greater than 0; null (default): unlimited.
    /// </summary>
    public long? SendBytesPerSecond
    {
        get;
        set => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "Must be above 0.");
    }

    /// <summary>The probability that the system has no buffers for a send. Default 0.</summary>
    public double SendBusyProbability { get; set => field = LinkModel.Probability(value); }

    /// <summary>The probability that a datagram is lost at this node's network card, whatever its sender. Default 0.</summary>
    public double InboundLoss { get; set => field = LinkModel.Probability(value); }

    /// <summary>
    /// The system's limit for receive buffers in bytes, below the size that the node requests. Not negative; null (default): no limit.
    /// </summary>
    public int? ReceiveBufferLimitBytes
    {
        get;
        set => field = value is null or >= 0
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The size must not be negative.");
    }

    /// <summary>
    /// The probability that segments of a run that arrive together are delivered as one run, as with receive offload. Default 0.5.
    /// </summary>
    public double CoalesceProbability { get; set => field = LinkModel.Probability(value); } = 0.5;

    /// <summary>
    /// Whether the system supports segmentation offload. If false, a run is one datagram. Set it before the node starts. Default true.
    /// </summary>
    public bool SegmentationOffload { get; set; } = true;

    /// <summary>
    /// Its network card loses whatever arrives just now; unlike <see cref="InboundLoss"/>, which is decided when a datagram is sent,
    /// however long it is then on its way.
    /// </summary>
    internal bool IsDeaf { get; set; }

    /// <summary>Time that its core thread takes for each event and each datagram beyond what the costs above say.</summary>
    internal TimeSpan Slowness { get; set; }

    /// <summary>Of what it sends, some arrives up to this much later, or once more then.</summary>
    internal TimeSpan OutboundHold { get; set; }

    /// <summary>Nothing that is sent to a group reaches it.</summary>
    internal bool IsOutOfGroups { get; set; }

    /// <summary>Datagrams of more bytes do not reach it: a black hole on its way alone. Null: all do.</summary>
    internal int? InboundLargestBytes { get; set; }

    /// <summary>No request for repair reaches it.</summary>
    internal bool IsDeafToRepair { get; set; }

    /// <summary>How many of the datagrams that go to it have a twin of another version, or of no known kind, behind them.</summary>
    internal double ForeignProbability { get; set; }

    /// <summary>Calls that its system refuses.</summary>
    internal SystemRefusals Refusals => field ??= new();

    /// <summary>No datagram of another node reaches it, while its streams live.</summary>
    internal bool HearsNoDatagrams { get; set; }

    /// <summary>None of its datagrams reaches another node, while its streams live.</summary>
    internal bool SendsNoDatagrams { get; set; }

    /// <summary>How many of the datagrams that go to it come once more, up to three seconds later.</summary>
    internal double ReplayProbability { get; set; }

    /// <summary>How many of the datagrams that go to it have a bit flipped; beside <see cref="LinkModel.Corrupt"/>.</summary>
    internal double CorruptProbability { get; set; }

    /// <summary>Its interface is down. Set it by <see cref="SimulatedNetwork.TakeOffline"/>, which lets streams break in time.</summary>
    internal bool IsOffline { get; set; }

    /// <summary>How many of the datagrams that it sends to others have a false one behind them: well-formed, with absurd numbers.</summary>
    internal double LieProbability { get; set; }

    // Undoes what faults changed.
    internal void Heal()
    {
        Refusals.End();
        HearsNoDatagrams = false;
        SendsNoDatagrams = false;
        ReplayProbability = 0;
        CorruptProbability = 0;
        IsOffline = false;
        LieProbability = 0;
        Slowness = TimeSpan.Zero;
        OutboundHold = TimeSpan.Zero;
        IsOutOfGroups = false;
        InboundLargestBytes = null;
        IsDeafToRepair = false;
        ForeignProbability = 0;
        SendBusyProbability = 0;
        InboundLoss = 0;
        IsDeaf = false;
        ReceiveBufferLimitBytes = null;
    }

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must not be negative.");
}
