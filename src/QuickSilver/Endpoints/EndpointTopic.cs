using QuickSilver.Core.Environment;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// The topic's interface for its endpoints: the parts that they share, and the calls by which they report. Core thread only, unless stated
// otherwise.
internal abstract class EndpointTopic(INodeEnvironment environment, string name) : SignalRequest(environment)
{
    private long _mostBytes = long.MaxValue;
    private int _subscribers;

    public abstract IEndpointNode Node { get; }

    public string Name { get; } = name;

    /// <summary>Created on the core thread, with the first endpoint that publishes.</summary>
    public abstract TopicPublisher Publisher { get; }

    /// <summary>From any thread: the maximum size of a message, according to the topic's last view.</summary>
    public long MostBytes
    {
        get => Volatile.Read(ref _mostBytes);
        protected set => Volatile.Write(ref _mostBytes, value);
    }

    /// <summary>From any thread: the number of subscribers in the last view.</summary>
    public int Subscribers
    {
        get => Volatile.Read(ref _subscribers);
        protected set => Volatile.Write(ref _subscribers, value);
    }

    /// <summary>From any thread: called when a reader that refused a message has room.</summary>
    public void Resume() => Signal();

    /// <summary>What this node wants to know of the subscribers.</summary>
    public abstract ISubscriberInterest Interest { get; }

    public abstract void Leave(TopicEndpoint endpoint);

    /// <summary>
    /// The endpoint ends in order: nothing more is sent to it, and it gets everything that was. Calls back when it has all of it, or
    /// <see cref="EndLeave"/> was called.
    /// </summary>
    public abstract void BeginLeave(TopicEndpoint endpoint, Action completed);

    /// <summary>There is no more time: the endpoint does without what it has not got.</summary>
    public abstract void EndLeave(TopicEndpoint endpoint);

    /// <summary>What has come for the endpoint and waits below it.</summary>
    public abstract GapNotice[] UntakenOf(TopicEndpoint endpoint);

    public abstract void OnEndpointEnded(TopicEndpoint endpoint, Exception reason);

    /// <summary>
    /// Called when the endpoint's reader has had no room for as long as allowed: the topic continues without the endpoint.
    /// </summary>
    public abstract void OnReaderTooSlow(TopicEndpoint endpoint);

    /// <summary>
    /// Called when a handler of the endpoint has blocked the core thread for as long as allowed, and has returned: the topic continues
    /// without the endpoint.
    /// </summary>
    public abstract void OnHandlerTooSlow(TopicEndpoint endpoint, SlowHandlerException failure);

    public abstract void OnHandlerFault(Exception exception, NodeId sender, long sequence);

    public abstract void OnObserverFault(Exception exception);

    public abstract void OnFeedFault(Exception exception);

    /// <summary>
    /// Called when a codec throws <see cref="OutOfMemoryException"/>. True: the message comes again when there may be memory. False: there
    /// is memory, and the codec has been at fault with this message for long.
    /// </summary>
    public abstract bool WaitsForMemory(in DeliveredMessage message);

    public abstract void OnDecodeFault(Exception exception, NodeId sender, long sequence);
}

// A codec that learns which messages it could not decode, after the last attempt. Core thread.
internal interface IDecodeFaultObserver
{
    /// <summary>Must not throw.</summary>
    void OnDecodeFault(ReadOnlySpan<byte> payload, NodeId sender, Exception exception);
}
