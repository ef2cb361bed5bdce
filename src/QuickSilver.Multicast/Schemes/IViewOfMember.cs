using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Pacing;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Schemes;

// One view of a region at one of its members.
internal interface IViewOfMember
{
    RegionView View { get; }

    LiveMembers Live { get; }

    PacketKeepers Keepers { get; }

    /// <summary>The rank of this member.</summary>
    int SelfRank { get; }

    /// <summary>The partition whose packets this member keeps for others.</summary>
    int OwnPartition { get; }

    /// <summary>The template of the packets that this member sends to other members of the view.</summary>
    PacketTemplate Template { get; }

    /// <summary>The pull times of the members that were asked for another sender's packets.</summary>
    PullClock PullClock { get; }

    /// <summary>Whether no node but the sender can supply what is missing.</summary>
    bool AsksOnlySender(IStreamOfMember stream);

    /// <summary>The strategy of the stream is notified if something is missing.</summary>
    void NoteGap(IStreamOfMember stream);

    /// <summary>The stream with this key; null if there is none.</summary>
    IStreamOfMember? Find(StreamKey stream);
}

// A view for the tracker that finds out what all members of it hold.
internal interface ITrackedView : IViewOfMember
{
    /// <summary>In the order of their first packets.</summary>
    IReadOnlyList<ITrackedStream> Streams { get; }

    /// <summary>The datagrams of the view that were dropped because there was no room in a socket or in packet memory.</summary>
    long Drops { get; }

    /// <summary>The bytes of one sender that may wait here.</summary>
    long RoomBytes { get; }

    /// <summary>Whether all streams are drained.</summary>
    bool IsDrained { get; }

    /// <summary>
    /// The configuration through which the members are to agree on what departed nodes have sent, so that the view can be closed; 0: no
    /// node has departed, or this node has waited for it too long.
    /// </summary>
    long AgreementWanted { get; }

    /// <summary>
    /// A reliable stream that another member reports, known or not; null if more unknown senders are reported than can exist.
    /// </summary>
    ITrackedStream? FindReported(StreamKey stream);

    /// <summary>Requests everything that is missing now, as if for the first time.</summary>
    void AskAnew(IStreamOfMember stream);

    /// <summary>A token shows which of the packets that are missing here others hold.</summary>
    void Compare(IStreamOfMember stream, in RingComparison compared);

    /// <summary>Whether repair has failed so often that the ring neighbours must push what is missing.</summary>
    bool NeedsNeighbourPush(IStreamOfMember stream);
}
