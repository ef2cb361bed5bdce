namespace QuickSilver.Publishing.Requests;

// The bytes that may wait between all publishers of a node and its core thread. One topic may use half of them, so that a topic whose
// subscribers are slow does not stop the others.
internal sealed class PublishBudget(long limit)
{
    // The cost of a message in addition to its payload: a million empty messages also take memory in the queue.
    public const int MessageOverhead = 64;

    private long _used;

    public long Limit { get; } = limit;

    public long TopicLimit { get; } = limit / 2;

    public long Used => Volatile.Read(ref _used);

    public long Add(long bytes) => Interlocked.Add(ref _used, bytes);
}
