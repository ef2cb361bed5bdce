using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Schemes;

// The stream of one sender in one view, as one of its members receives it.
internal interface IStreamOfMember
{
    RegionView View { get; }

    NodeKey Sender { get; }

    StreamClass Class { get; }

    bool IsReliable { get; }

    /// <summary>The sender and the class.</summary>
    StreamKey Key { get; }

    /// <summary>The highest number known to have been sent.</summary>
    long Highest { get; }

    /// <summary>The highest number that came or is missing.</summary>
    long Arrived { get; }

    SequenceRanges Missing { get; }

    /// <summary>The sender is not in the directory: only other members can supply what is missing.</summary>
    bool IsSenderGone { get; }

    /// <summary>The members are deciding what of the stream is lost. Nothing is accepted until the decision.</summary>
    bool IsRefusing { get; }

    /// <summary>Gives up numbers that no live member has.</summary>
    void GiveUp(long first, long last);
}

// What is missing of a stream, for the strategy that gets it.
internal interface IRepairedStream : IStreamOfMember
{
    /// <summary>The keepers of each packet up to here hold it.</summary>
    long Replicated { get; }

    /// <summary>How many missing packets there is memory for: others would be requested in vain.</summary>
    int MayAskFor { get; }

    /// <summary>The slot of a missing number.</summary>
    ref PacketSlot MissingSlot(long number);

    /// <summary>Drops the messages that have begun, because nothing more of them will come.</summary>
    void GiveUpOpen();
}

// The packets of a stream that this member keeps for others.
internal interface IKeptStream : IStreamOfMember
{
    /// <summary>All live members hold the packets up to here.</summary>
    long Stable { get; }

    /// <summary>Whether a packet that this node holds was last sent again to this member.</summary>
    bool WasSentTo(long sequence, NodeKey member);

    /// <summary>Gets the packet, unless it was sent to the same member within the spacing.</summary>
    bool TryGetPacket(long sequence, NodeKey to, TimeSpan spacing, out ReadOnlySpan<byte> packet);
}

// What a member holds and has consumed of a stream, for the tracker that finds out what all members do, and what that is notified of.
internal interface ITrackedStream : IKeptStream
{
    /// <summary>All packets up to here were received or given up.</summary>
    long Contiguous { get; }

    /// <summary>All messages in packets up to here were accepted above.</summary>
    long Consumed { get; }

    /// <summary>All packets up to here have left the socket, and wait for nothing but a repair.</summary>
    long Read { get; }

    /// <summary>This member holds all packets up to here that it must keep for others.</summary>
    long KeptContiguous { get; }

    /// <summary>Everything that is known was received, passed on and accepted.</summary>
    bool IsDrained { get; }

    /// <summary>Packets from here on are not dropped although other members keep them.</summary>
    long KeepFrom { get; set; }

    /// <summary>Returns a number that another member reported of the stream if it can be true, and 0 otherwise.</summary>
    long Believable(long number);

    /// <summary>Records that numbers up to this one were sent.</summary>
    void OnAnnounced(long highest);

    /// <summary>All live members hold the packets up to the first number, and the keepers those up to the second.</summary>
    void SetStable(long stable, long replicated);

    /// <summary>Copies the numbers up to a limit that are not known to be stable and that this member cannot supply.</summary>
    void CopyUnsupplied(long through, SequenceRanges into);

    /// <summary>Notes that the other members lack a packet that this one holds. Returns whether to send it to them.</summary>
    bool TryOffer(long sequence, TimeSpan spacing, TimeSpan most);

    /// <summary>The members begin to decide what is lost.</summary>
    void BeginDecision();

    /// <summary>The members have decided, or start again.</summary>
    void EndDecision();

    /// <summary>Nothing more comes of a departed sender.</summary>
    void Finish();

    /// <summary>Called from time to time, so that memory that was needed once is not kept forever.</summary>
    void Trim();
}

// A stream of this node into one view.
internal interface IStreamOfSender
{
    RegionView View { get; }

    /// <summary>All live members hold the packets up to and including this one.</summary>
    long Acknowledged { get; }

    /// <summary>Whether a packet with this number was sent.</summary>
    bool HasSent(long number);

    /// <summary>Whether the node is a member of the view and was not removed since.</summary>
    bool IsLive(NodeKey node);
}
