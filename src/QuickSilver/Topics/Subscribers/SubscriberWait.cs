using QuickSilver.Endpoints;

namespace QuickSilver.Topics.Subscribers;

// A call that waits until so many nodes subscribe to the topic of its endpoint.
internal sealed class SubscriberWait(TopicEndpoint endpoint, int count, TaskCompletionSource done)
{
    public TopicEndpoint Endpoint { get; } = endpoint;

    public int Count { get; } = count;

    public TaskCompletionSource Done { get; } = done;

    /// <summary>The nodes that subscribe now.</summary>
    public int Subscribers { get; private set; }

    /// <summary>The most that have subscribed at one time since the call: nodes that come and go are no progress.</summary>
    public int Most { get; private set; }

    public void OnSubscribers(int subscribers)
    {
        Subscribers = subscribers;
        Most = Math.Max(Most, subscribers);
    }
}
