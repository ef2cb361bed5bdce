using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;

namespace QuickSilver.Multicast;

// The layer's limits, each with its reason; their relations are asserted by Validate.
internal sealed record MulticastOptions
{
    // A message may be this large; more belongs in a file.
    public const int MaxMessageBytes = 16 << 20;
    // A message's header and its sender's whole start table lie in one packet.
    public const int MinPacketBytes = 576;
    public const long DefaultReassemblyBytes = 256L << 20;

    public required ulong ClusterId { get; init; }

    // One datagram, header included: what an Ethernet frame of MTU 1500 carries.
    public int PacketBytes { get; init; } = 1472;

    // Sent and not yet stable, per node.
    public long RetentionBytes { get; init; } = 64L << 20;

    // Packed and not yet sent, per region: enough for some runs, so that a full window pushes back soon.
    public int BacklogBytes { get; init; } = 512 << 10;

    // Asked of the kernel per receiving port.
    public int ReceiveBufferBytes { get; init; } = 8 << 20;

    public bool SegmentationOffload { get; init; } = true;

    // How losses are repaired, how what is sent reaches the members of a view, and how they find out what all of them hold: the same at all
    // nodes of a cluster.
    public IRepairScheme Repair { get; init; } = PeerPullRepair.Scheme;

    public IDeliveryOrderScheme Order { get; init; } = FifoOrder.Scheme;

    public IDisseminationScheme Dissemination { get; init; } = GroupMulticast.Scheme;

    public IStabilityScheme Stability { get; init; } = RingHierarchy.Scheme;

    public bool Unicast { get; init; }

    // Members that say that they do not hear this node over a group get copies by unicast; if not, what repairs give them.
    public bool CopiesToDeaf { get; init; } = true;

    // Small packets a second to single members that are not asked for by any: where nobody answers, and where no answers are
    // expected. All streams of a node together.
    public int ChecksPerSecond { get; init; } = 2_000;

    // Numbers ahead of the oldest packet not yet stable that a receiver takes: bounds its memory per sender (I17).
    public int WindowPackets { get; init; } = 1 << 16;

    // A gap younger than this is probably reordering.
    public TimeSpan ReorderWindow { get; init; } = TimeSpan.FromMilliseconds(1);

    // In a stream that does not repair, a gap younger than this may be reordering; an older one is told. Longer, as waiting costs
    // little there, and a packet that comes too late is lost.
    public TimeSpan BestEffortPatience { get; init; } = TimeSpan.FromMilliseconds(10);

    // The first repeat of an unanswered pull, before it is known how long answers take; doubles up to PullRepeatMax.
    public TimeSpan PullRepeat { get; init; } = TimeSpan.FromMilliseconds(3);

    // The first repeat where answers come quickly.
    public TimeSpan PullRepeatMin { get; init; } = TimeSpan.FromMilliseconds(0.5);

    public TimeSpan PullRepeatMax { get; init; } = TimeSpan.FromMilliseconds(250);

    // Packets answered to one pull at most; the rest is asked again (T12).
    public int PullAnswerPackets { get; init; } = 256;

    // What a node sends again for others, in all views together; beyond it answers are put off, and asked for again. After a loss
    // of very much at once repairs would else fill the link, and what is new would be lost for them.
    public long RepairBytesPerSecond { get; init; } = 64L << 20;

    // A quiet sender announces its last number after this, or later where acknowledgements take longer, then at doubled intervals
    // up to AnnounceMax until all hold it.
    public TimeSpan AnnounceAfter { get; init; } = TimeSpan.FromMilliseconds(5);

    public TimeSpan AnnounceMax { get; init; } = TimeSpan.FromMilliseconds(250);

    // The ring while what it settles moves; while it waits for something, which doubles up to the second bound; and while there
    // is nothing (the paper's 1 to 5 tokens a second). A sender that needs to know sooner says so in its packets.
    public TimeSpan TokenIntervalActive { get; init; } = TimeSpan.FromMilliseconds(1);

    public TimeSpan TokenIntervalWaiting { get; init; } = TimeSpan.FromMilliseconds(8);

    public TimeSpan TokenIntervalIdle { get; init; } = TimeSpan.FromSeconds(1);

    // For experiments: a ring's leader releases a token this long after it has the last one back, whatever happens meanwhile.
    public TimeSpan? TokenIntervalFixed { get; init; }

    // For experiments: 1, an acknowledgement says up to where all hold everything; more, it also says in so many ranges what they
    // hold beyond that, and the sender lets go of it.
    public int FeedbackRanges { get; init; } = 1;

    // A token that has not come back is sent again after this, doubled up to TokenTimeoutMax.
    public TimeSpan TokenTimeout { get; init; } = TimeSpan.FromMilliseconds(25);

    // The least that the wait adapts to where rounds are short: a pause of a member is no loss.
    public TimeSpan TokenTimeoutMin { get; init; } = TimeSpan.FromMilliseconds(10);

    public TimeSpan TokenTimeoutMax { get; init; } = TimeSpan.FromSeconds(1);

    // A sender that has had no acknowledgement for so long, though it announces what it has sent, reports who should have sent it.
    public TimeSpan AckSilence { get; init; } = TimeSpan.FromSeconds(1.5);

    // Between two decisions about what a sender that is gone has left open: repairs come through meanwhile.
    public TimeSpan EpochSpacing { get; init; } = TimeSpan.FromMilliseconds(25);

    // Packets of views not known yet: kept within these bounds until the view comes.
    public int UnknownViewBytes { get; init; } = 4 << 20;

    public TimeSpan UnknownViewAge { get; init; } = TimeSpan.FromSeconds(5);

    // After a view change the first packet waits this long, so that most members know the view when it arrives.
    public TimeSpan ReconfigurationPause { get; init; } = TimeSpan.FromMilliseconds(2);

    // An old view with a sender that is gone stays open until its ring has had nothing to settle for this long: longer than
    // the longest wait between two tokens.
    public TimeSpan ClosingPause { get; init; } = TimeSpan.FromSeconds(3);

    // What waits without progress for so long is named.
    public TimeSpan StallWarning { get; init; } = TimeSpan.FromSeconds(5);

    // How long the system may refuse a group's port before the node leaves. While it does, each packet costs a repair, and a view of
    // which this is the only member gets nothing: longer than a shortage or a restart of the network lasts, and short enough for
    // those who wait for this node.
    public TimeSpan GroupRefusalLimit { get; init; } = TimeSpan.FromSeconds(30);

    // The ports that the system gives to sockets which ask for any; null: not known.
    public EphemeralPorts? EphemeralPorts { get; init; }

    // Messages of more than 64 KiB at a receiver that span packets, until they are accepted above, in bytes over all senders. Smaller
    // ones have an eighth as much beside it, and copies of what waits in best-effort topics a sixteenth. As much again is for
    // those that would else wait for each other.
    public long ReassemblyBytes { get; init; } = DefaultReassemblyBytes;

    /// <summary>
    /// The least packet memory of a node: twice the largest message, and so much that senders' share of it takes the largest message
    /// in packets of this size.
    /// </summary>
    public static long LeastBufferBytes(int packetBytes) =>
        Math.Max(2L * MaxMessageBytes, MemoryShares.LeastBytes(Packer.MostBlocks(MaxMessageBytes, packetBytes)));

    // Messages that wait for a reader, of one sender and topic: what is on the way until the sender waits is some windows at most. A
    // window is half a receive buffer.
    public long ParkedBytesOfTopic { get; init; } = 16L << 20;

    // Of all senders and topics. What is beyond stays in its packets, and holds back all topics of its sender's stream.
    public long ParkedBytes { get; init; } = 128L << 20;

    public void Validate()
    {
        if (PacketBytes is < MinPacketBytes or > 65_507)
        {
            throw new ArgumentOutOfRangeException(nameof(PacketBytes), PacketBytes, $"A packet has {MinPacketBytes} to 65,507 bytes.");
        }

        if (RepairBytesPerSecond < PacketBytes)
        {
            throw new ArgumentOutOfRangeException(nameof(RepairBytesPerSecond), RepairBytesPerSecond, "A packet a second, at least.");
        }

        if (PacketBytes > SlabPool.BlockBytes || RetentionBytes < 2 * BacklogBytes || ReassemblyBytes < MaxMessageBytes)
        {
            throw new ArgumentException("Retention must exceed twice the backlog, and reassembly one message.");
        }
    }
}
