namespace QuickSilver.Diagnostics;

// What the public face counts. Each field has one writer, the core thread, but for those that say otherwise; anyone reads.
internal sealed class NodeTally
{
    public long Published;
    public long PublishedBytes;
    // Any thread, interlocked: a publish that waits is off the hot path anyway.
    public long PublishWaits;
    public long Delivered;
    public long DeliveredBytes;
    public long Gaps;
    public long ReaderDrops;
    public long HandlerFaults;
    public long FeedFaults;
    public long DecodeFaults;

    public void CountPublished(int bytes)
    {
        Published++;
        PublishedBytes += bytes;
    }

    public void CountDelivered(int bytes)
    {
        Delivered++;
        DeliveredBytes += bytes;
    }
}
