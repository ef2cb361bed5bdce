using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending.Repairs;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Sending;

// The outbound streams of this node, including those of superseded views.
internal interface ISentStreams
{
    /// <summary>All of them, those of old views first.</summary>
    IReadOnlyList<IAcknowledgedStream> Streams { get; }

    /// <summary>The stream of that class into that view of the region; null if there is none, or if it is settled.</summary>
    IAcknowledgedStream? FindSender(ulong region, uint view, StreamClass streamClass);
}

// How far the members of a view are with a stream of this node.
internal interface ISentStream : IStreamOfSender
{
    StreamClass Class { get; }

    bool IsReliable { get; }

    /// <summary>The configuration that replaced this view; 0 while it is current.</summary>
    long SupersededAt { get; }

    /// <summary>The last configuration in which a topic of this node used the stream.</summary>
    long RoutedAt { get; }

    /// <summary>The members of the view that were not removed since.</summary>
    LiveMembers Live { get; }

    /// <summary>The last packet, sent or not.</summary>
    long Last { get; }

    /// <summary>The number of packets that are not known to be held by all members.</summary>
    long Pending { get; }

    /// <summary>Whether nothing is left to do: all members hold all packets or, for a best-effort stream, all packets were sent.</summary>
    bool IsSettled { get; }

    /// <summary>The last packet that was sent, and the last that all members have consumed.</summary>
    (long Sent, long Consumed) Through { get; }

    /// <summary>
    /// Whether a sent packet is not known to be held, or not known to be consumed, by all members. For a best-effort stream no member
    /// reports that, and the marks of its topics show what was sent last.
    /// </summary>
    bool AwaitsNews { get; }

    /// <summary>How long an acknowledgement has been due.</summary>
    TimeSpan Silence { get; }

    StreamSigns Signs { get; }

    /// <summary>The maximum number of packets in flight; for diagnostics.</summary>
    int WindowPackets { get; }
}

// The same, for what comes from the members, acknowledgements and requests, and for what delays them.
internal interface IAcknowledgedStream : ISentStream
{
    /// <summary>Sends packets again that members requested.</summary>
    Retransmissions Retransmissions { get; }

    /// <summary>Whether the topic's first message in this view, which carries the start table, is packed.</summary>
    bool HasStarted(ulong topicId);

    /// <summary>Releases packets that all members hold although they lack earlier ones. No member will request them.</summary>
    void LetGo(long first, long last);

    void OnAck(long stable, long consumed, long read, long kernelDrops, long receiveBufferBytes);

    /// <summary>Sends an announcement to one member that could not hear this node until now.</summary>
    void AnnounceTo(NodeKey member);

    /// <summary>This node stood still for so long: acknowledgements that came meanwhile are not read yet.</summary>
    void OnPause(TimeSpan length);
}
