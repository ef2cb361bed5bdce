using QuickSilver.Endpoints;

namespace QuickSilver.Topics.Subscribers;

// The calls that wait until a topic has a number of subscribers, which are nodes. Core thread only.
internal sealed class SubscriberWaits
{
    private readonly List<SubscriberWait> _waits = [];

    public IReadOnlyList<SubscriberWait> Open => _waits;

    public void Add(SubscriberWait wait) => _waits.Add(wait);

    public void OnSubscribers(int subscribers) => _waits.RemoveAll(wait =>
    {
        wait.OnSubscribers(subscribers);
        // A cancelled wait is removed at the next call, whatever the number.
        if (wait.Count <= subscribers)
        {
            wait.Done.TrySetResult();
        }

        return wait.Done.Task.IsCompleted;
    });

    public void Fail(TopicEndpoint endpoint, Exception reason) => _waits.RemoveAll(wait =>
    {
        if (!ReferenceEquals(wait.Endpoint, endpoint))
        {
            return false;
        }

        wait.Done.TrySetException(reason);
        return true;
    });
}
