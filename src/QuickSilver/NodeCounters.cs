namespace QuickSilver;

/// <summary>What a node has counted since it started. Read at leisure from any thread; each value by itself.</summary>
public sealed record NodeCounters
{
    /// <summary>Messages taken by the multicast layer.</summary>
    public long Published { get; init; }

    /// <summary>Their payloads' bytes.</summary>
    public long PublishedBytes { get; init; }

    /// <summary>Publish calls that had to wait for room.</summary>
    public long PublishWaits { get; init; }

    /// <summary>Bytes that wait between publishers and the core thread now.</summary>
    public long PublishQueueBytes { get; init; }

    /// <summary>Messages handed to this node's topics; one that several endpoints get counts once.</summary>
    public long Delivered { get; init; }

    /// <summary>Their payloads' bytes.</summary>
    public long DeliveredBytes { get; init; }

    /// <summary>Messages that topics of this node will never get; each was told in a gap notice.</summary>
    public long Gaps { get; init; }

    /// <summary>Messages dropped because a reader was slow; each was told in a gap notice.</summary>
    public long ReaderDrops { get; init; }

    /// <summary>Exceptions thrown by handlers.</summary>
    public long HandlerFaults { get; init; }

    /// <summary>Exceptions thrown by attached feeds, and messages of theirs that were too large.</summary>
    public long FeedFaults { get; init; }

    /// <summary>Messages whose payload could not be decoded; each was told in a gap notice.</summary>
    public long DecodeFaults { get; init; }

    /// <summary>Exceptions thrown by the loggers that this node was given; what was to be logged then is not logged.</summary>
    public long LogFaults { get; init; }

    /// <summary>Packets sent, repairs included.</summary>
    public long PacketsSent { get; init; }

    /// <summary>Packets received.</summary>
    public long PacketsReceived { get; init; }

    /// <summary>Packets received that were malformed, foreign, stale or duplicates, and were dropped.</summary>
    public long PacketsDropped { get; init; }

    /// <summary>Packets sent again, for oneself or for others, and packets got by repair.</summary>
    public long Repairs { get; init; }

    /// <summary>
    /// Times that something waited without progress for longer than <see cref="QuickSilverOptions.StallWarning"/>.
    /// </summary>
    public long Stalls { get; init; }

    /// <summary>Datagrams that the kernel dropped at full receive buffers.</summary>
    public long KernelDrops { get; init; }

    /// <summary>Bytes sent and not yet acknowledged by all, now.</summary>
    public long UnackedBytes { get; init; }

    /// <summary>Regions that the topics open here reach, now; each is one multicast group.</summary>
    public long Regions { get; init; }

    /// <summary>Data packets sent as copies to single members that do not hear their group; not among the packets sent.</summary>
    public long CopiesSent { get; init; }

    /// <summary>Senders that this node does not hear over multicast, now.</summary>
    public long UnheardSenders { get; init; }

    /// <summary>Nodes to which this node sends and that do not hear it over multicast, now.</summary>
    public long DeafMembers { get; init; }

    /// <summary>"gso" where runs of datagrams go to the kernel as one, "single" elsewhere.</summary>
    public string DatagramPath { get; init; } = "single";
}
