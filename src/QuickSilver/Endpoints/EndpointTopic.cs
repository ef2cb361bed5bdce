using QuickSilver.Core.Environment;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// A topic as its endpoints know it: what they share, and whom they tell. Core thread only, where nothing else is said.
internal abstract class EndpointTopic(INodeEnvironment environment, string name) : SignalRequest(environment)
{
    private long _mostBytes = long.MaxValue;
    private int _subscribers;

    public abstract IEndpointNode Node { get; }

    public string Name { get; } = name;

    /// <summary>Made on the core thread, when the first endpoint comes that publishes.</summary>
    public abstract TopicPublisher Publisher { get; }

    /// <summary>From any thread: what a message may have at most, as the topic's last view was.</summary>
    public long MostBytes
    {
        get => Volatile.Read(ref _mostBytes);
        protected set => Volatile.Write(ref _mostBytes, value);
    }

    /// <summary>From any thread: subscribers in the last view.</summary>
    public int Subscribers
    {
        get => Volatile.Read(ref _subscribers);
        protected set => Volatile.Write(ref _subscribers, value);
    }

    /// <summary>From any thread: a reader that refused a message has room.</summary>
    public void Resume() => Signal();

    /// <summary>From any thread.</summary>
    public abstract Task WaitForSubscribersAsync(TopicEndpoint endpoint, int count, CancellationToken cancellationToken);

    public abstract void Leave(TopicEndpoint endpoint);

    public abstract void OnEndpointEnded(TopicEndpoint endpoint, Exception reason);

    /// <summary>The endpoint's reader has had no room for as long as it may: the topic goes on without it.</summary>
    public abstract void OnReaderTooSlow(TopicEndpoint endpoint);

    public abstract void OnHandlerFault(Exception exception, NodeId sender, long sequence);

    public abstract void OnObserverFault(Exception exception);

    public abstract void OnFeedFault(Exception exception);

    public abstract void OnDecodeFault(Exception exception, NodeId sender, long sequence);
}
