namespace QuickSilver.Diagnostics;

// The cells of a node's own figures, which any thread reads. The core thread is the only writer of a cell, unless a comment says otherwise.
internal sealed class NodeCounterCells
{
    public long Published;
    public long PublishedBytes;
    // Any thread writes it, with interlocked operations: a publish call that waits is not on the hot path.
    public long PublishWaits;
    public long PublishDrops;
    public long Unacknowledged;
    public long Delivered;
    public long DeliveredBytes;
    public long Gaps;
    public long ReaderDrops;
    // Any thread writes it, with interlocked operations: an endpoint ends once.
    public long Unhandled;
    // Those of them that no buffer had. Written as Unhandled is.
    public long UnhandledUntaken;
    public long HandlerFaults;
    public long FeedFaults;
    public long DecodeFaults;
    // Consumers write these from any thread, with interlocked operations: none counts messages that are handled at once.
    public long ConsumerRetries;
    public long ConsumerSkips;
    public long ConsumerFailures;
    // Any thread writes these, with interlocked operations: a request is a task, and costs more than its count.
    public long Requests;
    public long RequestsAnswered;
    public long Replies;
    public long RepliesFailed;
    public long RepliesExpired;
    public long SnapshotsGiven;
    public long SnapshotsTaken;
    // Written by the timer that looks for them, with interlocked operations.
    public long BlockingHandlers;

    /// <summary>The requests that ended without an answer, by the reason. Interlocked.</summary>
    public long[] RequestFailures { get; } = new long[RequestFailure.Kinds.Length];

    /// <summary>The open states of the node: the number of keys of each.</summary>
    public CountSources StateKeys { get; } = new();

    public void CountPublished(int bytes)
    {
        Published++;
        PublishedBytes += bytes;
    }

    /// <summary>
    /// From any thread: the delivered messages, without those that were dropped from a buffer when its endpoint ended. A message that
    /// several endpoints did not handle counts for each, so this is the least.
    /// </summary>
    public long ReadHandled() =>
        Math.Max(0, Volatile.Read(ref Delivered) - (Interlocked.Read(ref Unhandled) - Interlocked.Read(ref UnhandledUntaken)));

    public void CountDelivered(int bytes)
    {
        Delivered++;
        DeliveredBytes += bytes;
    }
}
