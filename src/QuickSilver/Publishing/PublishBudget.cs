namespace QuickSilver.Publishing;

// The bytes that may wait between all publishers of a node and its core thread. One topic may hold half of them, so that
// a topic whose subscribers are slow does not silence the others.
internal sealed class PublishBudget(long limit)
{
    // What a message costs beside its payload: a million empty messages are not free to queue.
    public const int MessageOverhead = 64;

    private long _used;

    public long Limit { get; } = limit;

    public long TopicLimit { get; } = limit / 2;

    public long Used => Volatile.Read(ref _used);

    public long Add(long bytes) => Interlocked.Add(ref _used, bytes);
}
