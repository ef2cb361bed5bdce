using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

internal enum EndpointState
{
    Open = 0,
    // Takes no more to publish; what was accepted goes on.
    Draining = 1,
    Cancelled = 2,
    // The node was expelled.
    Failed = 3,
    Disposed = 4,
}

// One endpoint as the core thread sees it, whatever its payload type.
internal abstract class TopicEndpoint(string name, TopicAccess access) : PublishOrigin
{
    private int _state;
    private volatile bool _hasPublished;

    public string Name { get; } = name;

    public TopicAccess Access { get; } = access;

    public bool Publishes => (Access & TopicAccess.Publish) != 0;

    public bool Subscribes => (Access & TopicAccess.Subscribe) != 0;

    /// <summary>How the intake knows the endpoint's messages in the lane.</summary>
    protected int Source { get; init; }

    protected bool HasPublished
    {
        get => _hasPublished;
        set => _hasPublished = value;
    }

    public EndpointState State => (EndpointState)Volatile.Read(ref _state);

    /// <summary>The registry's own.</summary>
    internal TopicEndpoint? NextRegistered { get; set; }
    internal TopicEndpoint? PreviousRegistered { get; set; }

    /// <summary>Core thread: whether every consumer of this endpoint has room for a message of this size.</summary>
    public abstract bool CanAccept(int payloadBytes);

    /// <summary>Null where its reader may take as long as it likes.</summary>
    public SlowReaderWatch? Watch { get; init; }

    /// <summary>Core thread: hands a message to this endpoint's consumers. Throws nothing.</summary>
    public abstract void Accept(in DeliveredMessage message);

    /// <summary>Its one consumer, while that is a handler, nothing is owed to it, and no other endpoint has the topic's messages.</summary>
    public abstract IDirectSink? Direct { get; }

    /// <summary>Core thread: whether no other endpoint of this node has the topic's messages.</summary>
    public abstract void SetAlone(bool isAlone);

    /// <summary>Core thread: tells this endpoint's consumers of a gap. Throws nothing.</summary>
    public abstract void AcceptGap(in GapNotice gap);

    /// <summary>It can go on no longer, as its node, or its reader, cannot. From any thread.</summary>
    public abstract void OnFailed(Exception reason);

    /// <summary>From any thread, as <see cref="ITopicPublisher{T}.DrainAsync"/>.</summary>
    public abstract Task<bool> DrainAsync(TimeSpan? timeout = null);

    /// <summary>From any thread: as DrainAsync, but true where the user has ended the endpoint before, at whatever moment.</summary>
    public abstract Task<bool> DrainWithNodeAsync(TimeSpan within);

    /// <summary>Core thread: the topic has no such endpoint any more.</summary>
    public abstract void LeaveIntake();

    public abstract ValueTask DisposeAsync();

    /// <summary>States only go forward; false when this or a later one was reached already.</summary>
    protected bool TryAdvance(EndpointState to) => ForwardState.TryAdvance(ref _state, (int)to);
}
