namespace QuickSilver.Publishing;

// The publisher of a message: it determines what happens to its messages when it ends, and which of them it still waits for.
internal abstract class PublishOrigin
{
    private Exception? _dropReason;
    private volatile ServiceLoss? _loss;
    private StableList? _unstable;
    // The core thread writes it.
    private long _dropped;

    /// <summary>The number of the publisher at the intake, which its messages in the lane carry. The intake sets it.</summary>
    public int Source { get; set; }

    /// <summary>Whether messages carry the time of publication.</summary>
    public abstract bool StampsTime { get; }

    /// <summary>From any thread: set when the queued messages must be dropped, not sent.</summary>
    public Exception? DropReason => Volatile.Read(ref _dropReason);

    /// <summary>From any thread: set while messages are refused and feeds are not asked. The core thread sets it.</summary>
    public ServiceLoss? Loss
    {
        get => _loss;
        set => _loss = value;
    }

    /// <summary>
    /// From any thread: the messages that were accepted and dropped before they were sent, because the publisher ended. Messages whose
    /// publish call waits until they are stable are not among them: the call fails.
    /// </summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>The publish calls that wait for their messages, which were sent and are not yet stable. Core thread only.</summary>
    public StableList Unstable => _unstable ??= new StableList();

    /// <summary>Core thread: counts accepted messages that are dropped.</summary>
    public void CountDropped(long messages) => Volatile.Write(ref _dropped, _dropped + messages);

    /// <summary>Drops the queued messages. False if this was done before.</summary>
    protected bool DropQueued(Exception reason) => Interlocked.CompareExchange(ref _dropReason, reason, null) is null;
}

// Why messages are refused: the node has been without the membership service since then.
internal sealed record ServiceLoss(DateTimeOffset Since)
{
    public QuorumLostException Of(string topic) => new(topic, Since);
}
