using QuickSilver.Endpoints;

namespace QuickSilver.Topics.Subscribers;

// The calls that wait until a topic has a number of subscribers. Core thread only.
internal sealed class SubscriberWaits
{
    private readonly List<Entry> _waits = [];

    public int Count => _waits.Count;

    public void Add(TopicEndpoint endpoint, int count, TaskCompletionSource done) => _waits.Add(new Entry(endpoint, count, done));

    public void OnSubscribers(int subscribers) => _waits.RemoveAll(wait =>
    {
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

    private readonly record struct Entry(TopicEndpoint Endpoint, int Count, TaskCompletionSource Done);
}
