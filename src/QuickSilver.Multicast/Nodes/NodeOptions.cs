using System.Globalization;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Multicast.Nodes;

// The options and limits of the multicast layer, each with its reason. Validate checks their relations.
internal record NodeOptions
{
    // The largest message; larger data belongs in a file.
    public const int MaxMessageBytes = 16 << 20;
    // A packet must have room for a message header, the whole start table of a sender and the largest extensions.
    public const int MinPacketBytes = 576;
    // Some runs of packets.
    public const long LeastRetentionBytes = 1 << 20;
    public const long DefaultReassemblyBytes = 256L << 20;
    // The payload of the largest datagram of IPv4.
    private const int MaxDatagramBytes = 65_507;

    public required ulong ClusterId { get; init; }

    // One packet, including the header, as it is in memory. By default, its datagram is the largest that fits into an Ethernet frame with
    // an MTU of 1500.
    public int PacketBytes { get; init; } = 1472;

    // Whether each packet is sealed on its way, and nothing else is accepted. The keys come from the membership service. It must be the
    // same at all nodes of a cluster.
    public bool IsSealed { get; init; }

    // How many packets this node seals under one subkey: at most the default. Smaller numbers are for tests.
    public long PacketsPerKeyEpoch { get; init; } = PacketSealer.DefaultPacketsPerEpoch;

    /// <summary>The least size of a datagram: one that is sealed has room for less.</summary>
    public static int LeastDatagramBytes(bool isSealed) => MinPacketBytes + (isSealed ? SealedPacket.TrailerBytes : 0);

    // One packet as it is sent.
    public int DatagramBytes => PacketBytes + (IsSealed ? SealedPacket.TrailerBytes : 0);

    // The bytes of a node that are sent and not yet stable.
    public long RetentionBytes { get; init; } = 64L << 20;

    // The size that is requested from the kernel for each receiving port.
    public int ReceiveBufferBytes { get; init; } = 8 << 20;

    // Whether this node asks the senders of a region to divide its receive buffer among them. Otherwise each uses as much as it can until
    // packets are dropped.
    public bool SendersShareBuffers { get; init; } = true;

    public bool SegmentationOffload { get; init; } = true;

    public bool Unicast { get; init; }

    // Whether deaf members get copies by unicast; otherwise they get repairs only.
    public bool CopiesToDeaf { get; init; } = true;

    // How many small packets per second all streams of a node together may send to single members that did not request them: where no
    // member answers, and where no answers are expected.
    public int ChecksPerSecond { get; init; } = 2_000;

    // How far ahead of the oldest unstable packet a receiver accepts packets. This bounds its memory per sender (I17).
    public int WindowPackets { get; init; } = 1 << 16;

    // A gap younger than this is probably reordering.
    public TimeSpan ReorderWindow { get; init; } = TimeSpan.FromMilliseconds(1);

    // In an unreliable stream, a gap younger than this may be reordering, and an older one is reported. It is longer than ReorderWindow,
    // because waiting costs little there and a late packet is lost.
    public TimeSpan BestEffortPatience { get; init; } = TimeSpan.FromMilliseconds(10);

    // The wait before the first repeat of a pull while the time of answers is unknown; it doubles up to PullRepeatMax.
    public TimeSpan PullRepeat { get; init; } = TimeSpan.FromMilliseconds(3);

    // The least wait before the first repeat if answers come quickly.
    public TimeSpan PullRepeatMin { get; init; } = TimeSpan.FromMilliseconds(0.5);

    public TimeSpan PullRepeatMax { get; init; } = TimeSpan.FromMilliseconds(250);

    // How many packets may answer one pull; the requester asks for the rest again (T12).
    public int PullAnswerPackets { get; init; } = 256;

    // How many bytes per second a node sends again for others, in all views together. Answers beyond it are deferred, and requested again.
    // Without the limit, retransmissions after very large losses would fill the link, and new packets would be lost.
    public long RepairBytesPerSecond { get; init; } = 64L << 20;

    // A quiet sender announces its last number after this time, or later if acknowledgements take longer. The interval then doubles up to
    // AnnounceMax until all members hold the packets.
    public TimeSpan AnnounceAfter { get; init; } = TimeSpan.FromMilliseconds(5);

    public TimeSpan AnnounceMax { get; init; } = TimeSpan.FromMilliseconds(250);

    // The interval between the tokens of a ring while it makes progress; while something waits, when it doubles up to the second bound;
    // while nothing is open; and while nothing was open for long, so that many idle regions cost little. (The papers have 1 to 5 tokens per
    // second, whatever happens.) A sender that needs an acknowledgement sooner requests it in its packets.
    public TimeSpan TokenIntervalActive { get; init; } = TimeSpan.FromMilliseconds(1);

    public TimeSpan TokenIntervalWaiting { get; init; } = TimeSpan.FromMilliseconds(8);

    public TimeSpan TokenIntervalIdle { get; init; } = TimeSpan.FromSeconds(1);

    public TimeSpan TokenIntervalResting { get; init; } = TimeSpan.FromSeconds(4);

    // A token that has not returned is sent again after this time, which doubles up to TokenTimeoutMax.
    public TimeSpan TokenTimeout { get; init; } = TimeSpan.FromMilliseconds(25);

    // The least timeout if rounds are short: a pause of a member is no loss.
    public TimeSpan TokenTimeoutMin { get; init; } = TimeSpan.FromMilliseconds(10);

    public TimeSpan TokenTimeoutMax { get; init; } = TimeSpan.FromSeconds(1);

    // A sender that has had no acknowledgement for so long, although it sends announcements, reports the member that should have sent it.
    public TimeSpan AckSilence { get; init; } = TimeSpan.FromSeconds(1.5);

    // The time between two decisions about what of a departed sender's stream is lost: repairs arrive meanwhile.
    public TimeSpan EpochSpacing { get; init; } = TimeSpan.FromMilliseconds(25);

    // The limits within which packets of unknown views are kept until their view comes.
    public int UnknownViewBytes { get; init; } = 4 << 20;

    public TimeSpan UnknownViewAge { get; init; } = TimeSpan.FromSeconds(5);

    // After a view change the first packet waits this long, so that most members know the view when it arrives.
    public TimeSpan ReconfigurationPause { get; init; } = TimeSpan.FromMilliseconds(2);

    // An old view with a departed sender stays open until its ring has had nothing to settle for this long, which is longer than the
    // longest wait between two tokens, where no experiment sets their interval.
    public TimeSpan ClosingPause { get; init; } = TimeSpan.FromSeconds(3);

    // A ring whose token was not seen for so long may contain members that no other member hears. An idle ring has a token in each
    // interval.
    public TimeSpan RingSilence
    {
        get
        {
            var interval = 2 * (Experiments.TokenInterval ?? TokenIntervalIdle);
            return interval > ClosingPause / 2 ? interval : ClosingPause / 2;
        }
    }

    // Whatever waits without progress for so long is reported (I21).
    public TimeSpan StallWarning { get; init; } = TimeSpan.FromSeconds(5);

    // How long the system may refuse a group's port before the node leaves. Meanwhile each packet costs a repair, and a view of which this
    // is the only member gets nothing. The limit is longer than a shortage or a restart of the network lasts, and short enough for the
    // members that wait for this node.
    public TimeSpan GroupRefusalLimit { get; init; } = TimeSpan.FromSeconds(30);

    // The ports that the system assigns to sockets that request any port; null if they are not known.
    public EphemeralPorts? EphemeralPorts { get; init; }

    // The bytes that messages of more than 64 KiB that span packets may take at a receiver until the sinks have accepted them, for all
    // senders together. Smaller messages may take an eighth of it in addition, and copies of waiting messages of best-effort topics a
    // sixteenth. Messages that would otherwise wait for each other may take the same amounts once more.
    public long ReassemblyBytes { get; init; } = DefaultReassemblyBytes;

    // The bytes of one sender and topic that wait for a reader. Until the sender stops, at most some windows are in flight, and a window is
    // half a receive buffer.
    public long ParkedBytesOfTopic { get; init; } = 16L << 20;

    // The same for all senders and topics together. Messages beyond it stay in their packets, and hold back all topics of their sender's
    // stream.
    public long ParkedBytes { get; init; } = 128L << 20;

    public Experiments Experiments { get; init; } = new();

    /// <summary>Checks the ranges of options, and the relations between them that their comments state.</summary>
    /// <exception cref="ArgumentException">One does not hold. The message names both sides and has their values.</exception>
    public virtual void Validate()
    {
        AtMost(MinPacketBytes, PacketBytes);
        AtMost(PacketBytes, SlabPool.BlockBytes);
        AtMost(DatagramBytes, MaxDatagramBytes);
        AtMost(1, PacketsPerKeyEpoch);
        AtMost(PacketsPerKeyEpoch, PacketSealer.DefaultPacketsPerEpoch);
        AtMost(PacketBytes, RepairBytesPerSecond);
        AtMost(2 * SlabPool.BlockBytes, LeastRetentionBytes);
        AtMost(LeastRetentionBytes, RetentionBytes);
        AtMost(MaxMessageBytes, ReassemblyBytes);
        AtMost(ParkedBytesOfTopic, ParkedBytes);
        AtMost(1, WindowPackets);
        AtMost(1, PullAnswerPackets);
        AtMost(1, ChecksPerSecond);
        Below(ReorderWindow, BestEffortPatience);
        AtMost(PullRepeatMin, PullRepeat);
        AtMost(PullRepeat, PullRepeatMax);
        AtMost(AnnounceAfter, AnnounceMax);
        Below(AnnounceMax, AckSilence);
        AtMost(TokenIntervalActive, TokenIntervalWaiting);
        AtMost(TokenIntervalWaiting, TokenIntervalIdle);
        AtMost(TokenIntervalIdle, TokenIntervalResting);
        AtMost(TokenTimeoutMin, TokenTimeout);
        AtMost(TokenTimeout, TokenTimeoutMax);
        Below(PullRepeat, EpochSpacing);
        Below(TokenIntervalIdle, ClosingPause);
        Below(2 * TokenIntervalResting, 3 * ClosingPause);
        Below(TokenTimeoutMax, ClosingPause);
        AtMost(1, Experiments.FeedbackRanges);
        Below(TimeSpan.Zero, Experiments.TokenInterval ?? TokenIntervalIdle);
    }

    protected static void AtMost(
        long lower,
        long upper,
        [CallerArgumentExpression(nameof(lower))] string lowerName = "",
        [CallerArgumentExpression(nameof(upper))] string upperName = "") =>
        Check(lower <= upper, lowerName, lower, "at most", upperName, upper);

    private static void AtMost(
        TimeSpan lower,
        TimeSpan upper,
        [CallerArgumentExpression(nameof(lower))] string lowerName = "",
        [CallerArgumentExpression(nameof(upper))] string upperName = "") =>
        Check(lower <= upper, lowerName, lower, "at most", upperName, upper);

    private static void Below(
        TimeSpan lower,
        TimeSpan upper,
        [CallerArgumentExpression(nameof(lower))] string lowerName = "",
        [CallerArgumentExpression(nameof(upper))] string upperName = "") =>
        Check(lower < upper, lowerName, lower, "less than", upperName, upper);

    private static void Check<T>(bool holds, string lowerName, T lower, string relation, string upperName, T upper)
    {
        if (!holds)
        {
            throw new ArgumentException(
                string.Create(CultureInfo.InvariantCulture, $"{lowerName} ({lower}) must be {relation} {upperName} ({upper})."));
        }
    }
}
