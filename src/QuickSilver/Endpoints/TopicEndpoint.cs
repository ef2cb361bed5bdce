using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

internal enum EndpointState
{
    Open = 0,
    // Accepts no more messages to publish; accepted messages are still sent.
    Draining = 1,
    Cancelled = 2,
    // The endpoint cannot continue, because its node or its reader cannot.
    Failed = 3,
    Disposed = 4,
}

// An endpoint, independent of its payload type, as the core thread uses it.
internal abstract class TopicEndpoint(string name, TopicAccess access, bool stampsTime = false) : PublishOrigin
{
    private int _state;
    private volatile bool _hasPublished;
    // The lower half of the count when it was taken last. All of it would make each endpoint larger, and between two calls far fewer
    // messages are dropped than a half can count.
    private uint _takenDrops;

    public string Name { get; } = name;

    /// <summary>What the endpoint may do. It subscribes no more when it has left the topic in order.</summary>
    public TopicAccess Access { get; private set; } = access;

    /// <summary>Whether this endpoint gets no messages that this node has published.</summary>
    public bool NoEcho { get; init; }

    public sealed override bool StampsTime { get; } = stampsTime;

    /// <summary>After so long without the membership service, messages are refused.</summary>
    public TimeSpan ServiceLossLimit { get; init; } = TimeSpan.MaxValue;

    public bool Publishes => (Access & TopicAccess.Publish) != 0;

    public bool Subscribes => (Access & TopicAccess.Subscribe) != 0;

    protected bool HasPublished
    {
        get => _hasPublished;
        set => _hasPublished = value;
    }

    public EndpointState State => (EndpointState)Volatile.Read(ref _state);

    /// <summary>Links of the registry.</summary>
    internal TopicEndpoint? NextRegistered { get; set; }
    internal TopicEndpoint? PreviousRegistered { get; set; }

    /// <summary>Core thread: whether every consumer of this endpoint has room for a message of this size.</summary>
    public abstract bool CanAccept(int payloadBytes);

    /// <summary>Null if its reader may take any time.</summary>
    public SlowReaderWatch? Watch { get; init; }

    /// <summary>Core thread: passes a message to this endpoint's consumers.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory for it. No consumer has had it.</exception>
    public abstract void Accept(in DeliveredMessage message);

    /// <summary>
    /// The only consumer of the endpoint, if it is a handler without a backlog, there was never a reader, and no other endpoint of this
    /// node receives the topic's messages; otherwise null.
    /// </summary>
    public abstract IDirectSink? Direct { get; }

    /// <summary>Core thread: sets whether no other endpoint of this node receives the topic's messages.</summary>
    public abstract void SetAlone(bool isAlone);

    /// <summary>Core thread: reports a gap to this endpoint's consumers. Throws no exception.</summary>
    public abstract void AcceptGap(in GapNotice gap);

    /// <summary>Called from any thread when the endpoint cannot continue, because its node or its reader cannot.</summary>
    public abstract void OnFailed(Exception reason);

    /// <summary>From any thread: a handler of this endpoint that runs now; null if there is none.</summary>
    public virtual RunningHandler? FindRunning() => null;

    /// <summary>From any thread: the messages that wait for a reader or a consumer.</summary>
    public virtual long Waiting => 0;

    /// <summary>
    /// From any thread: called when a handler of this endpoint has blocked the core thread for so long. Ends the endpoint as soon as the
    /// core thread continues.
    /// </summary>
    public virtual void OnHandlerTooSlow(string method, TimeSpan limit)
    {
    }

    /// <summary>Core thread: messages that were refused for want of the service are accepted again, and feeds are asked.</summary>
    public virtual void OnServiceBack() => Loss = null;

    /// <summary>From any thread; see <see cref="ITopicPublisher{T}.DrainAsync"/>.</summary>
    public abstract Task<bool> DrainAsync(TimeSpan? timeout = null);

    /// <summary>From any thread: like DrainAsync, but also true if the application has already ended the endpoint.</summary>
    public abstract Task<bool> DrainWithNodeAsync(TimeSpan within);

    /// <summary>Core thread: called when the topic has removed the endpoint.</summary>
    public abstract void LeaveIntake();

    /// <summary>
    /// Core thread: the endpoint leaves the topic, and nothing more is sent to it. It takes all that has come without a limit of its own.
    /// </summary>
    public virtual void LiftBuffer()
    {
    }

    /// <summary>
    /// Core thread: the topic has left this endpoint out, and it gets no more messages. <paramref name="untaken"/>: those that had come for
    /// it and that it will not get.
    /// </summary>
    public virtual void OnLeft(IReadOnlyList<GapNotice> untaken) => EndAccess();

    /// <summary>
    /// Core thread: the node ends or was removed, or the endpoint fails by itself, and will not get these, which had come for it.
    /// </summary>
    public virtual void OnHandedOver(IReadOnlyList<GapNotice> untaken)
    {
    }

    /// <summary>From any thread: completes when a reader or consumer has read what it may still read; at once if there is none.</summary>
    public virtual Task WhenRead() => Task.CompletedTask;

    /// <summary>
    /// From any thread, when the core thread has ended: what no reader has read by now is dropped, and reported.
    /// </summary>
    public virtual void EndReading()
    {
    }

    /// <summary>From any thread, after EndReading: reports what a reader that does not continue has not read.</summary>
    public virtual void ReportUnread()
    {
    }

    protected void EndAccess() => Access &= ~TopicAccess.Subscribe;

    public abstract ValueTask DisposeAsync();

    /// <summary>Core thread: the messages that were dropped since the last call.</summary>
    public long TakeDrops()
    {
        uint now = unchecked((uint)Dropped);
        uint drops = unchecked(now - _takenDrops);
        _takenDrops = now;
        return drops;
    }

    /// <summary>Advances the state; states never go back. False if this state or a later one was already reached.</summary>
    protected bool TryAdvance(EndpointState to) => ForwardState.TryAdvance(ref _state, (int)to);
}
