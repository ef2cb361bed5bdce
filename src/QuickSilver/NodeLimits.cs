namespace QuickSilver;

/// <summary>
/// The memory that a node may use, and the rate at which it may repair. The node takes a copy when it starts, so a later change has no
/// effect.
/// </summary>
public sealed class NodeLimits
{
    /// <summary>
    /// The size of packet memory for received packets, packets kept for repair, and sent packets: 32 MiB to 16 GiB; default 256 MiB. With
    /// <see cref="QuickSilverOptions.PacketBytes"/> above 21,845 the minimum is larger, up to 55 MiB, so that the largest message fits. The
    /// address space is reserved at start, outside the heap of the garbage collector. The system gives the memory when it is first used,
    /// and on Linux gets it back when a node has not used it for 15 to 30 s.
    /// </summary>
    /// <remarks>
    /// Every 16 MiB above 64 MiB let one more sender keep a full window of 4 MiB in flight to this node: 11 senders with the default. With
    /// more senders or less memory, each sender's window is smaller. When received packets have used their share, a node accepts only the
    /// next packet of each stream and drops the others, which are repaired later (and counted as dropped packets). This is slow, but all
    /// streams make progress with up to 704 senders with the minimum, and 5,632 with the default. A message needs up to 64 KiB at once for
    /// each region of its topic. The memory does not count against a limit of the garbage collector, but against the
    /// limit of a container. A node fails to start if the system refuses the address space.
    /// </remarks>
    public long BufferBytes { get; set; } = 256L << 20;

    /// <summary>
    /// The maximum number of bytes that a node retains of messages that it sent and that are not yet stable: 1 MiB to 4 GiB; default 64
    /// MiB. More messages wait at the publisher. Retained messages are in packet memory (<see cref="BufferBytes"/>), so the limit is lower
    /// if receivers and reserves leave less of it.
    /// </summary>
    public long RetentionBytes { get; set; } = 64L << 20;

    /// <summary>
    /// The maximum number of bytes of received messages in the heap of the garbage collector, until readers and handlers take them: 46 MiB
    /// to 16 GiB; default 736 MiB. It is for messages that span packets, while their parts arrive, and for messages that wait for a full
    /// reader. More stay in packet memory (<see cref="BufferBytes"/>), and their senders wait. What waits in a reader's buffer is limited
    /// by <see cref="TopicOptions.ReaderCapacity"/> instead.
    /// </summary>
    /// <remarks>
    /// A sixth is for messages that wait for a reader, and a third for messages of more than 64 KiB while their parts arrive. The rest is
    /// for smaller messages, and a reserve that keeps messages from waiting for each other. Memory is used when messages need it. The heap
    /// may refuse it sooner, under a limit of its own or of the container. The messages wait then, and
    /// <see cref="StatusReasonKind.HeapFull"/> is reported.
    /// </remarks>
    public long ReceivedMessageBytes { get; set; } = 736L << 20;

    /// <summary>The maximum number of bytes queued between publishers and the core thread: 64 KiB to 1 GiB; default 4 MiB.</summary>
    public long PublishQueueBytes { get; set; } = 4L << 20;

    /// <summary>The receive buffer size requested from the kernel per region, in bytes: 64 KiB to 1 GiB; default 8 MiB.</summary>
    public int ReceiveBufferBytes { get; set; } = 8 << 20;

    /// <summary>
    /// The maximum number of bytes per second that a node sends again, for itself and for others, in all regions together: 65,536 to
    /// 4,294,967,296; default 67,108,864 (half of a gigabit link). Set it to half of the link's capacity if that is less. Otherwise repairs
    /// after a large loss can displace new data. Repairs above the limit are sent later, or by another member.
    /// </summary>
    public long RepairBytesPerSecond { get; set; } = 64L << 20;

    internal NodeLimits Copy() => (NodeLimits)MemberwiseClone();
}
