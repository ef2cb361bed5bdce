using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// One message as it is handed up, valid during the call only. Payload lies where it was received, or where it was put
// together when it spanned packets: who keeps the bytes copies them.
internal readonly ref struct DeliveredMessage
{
    public required NodeKey Sender { get; init; }
    public required ulong TopicId { get; init; }
    // The sender's number in this topic, from 1.
    public required long Sequence { get; init; }
    public required ReadOnlyMemory<byte> Payload { get; init; }
}

// A range of a sender's messages in a topic that this subscriber will never get, ends included.
internal readonly record struct TopicGap(NodeKey Sender, ulong TopicId, long First, long Last, string Reason);

// Where a subscription's messages go. Core thread; must not block.
internal interface ITopicSink
{
    /// <summary>False: no room. The message stays below, unacknowledged, and comes again after TopicReceiver.Resume.</summary>
    bool TryAccept(in DeliveredMessage message);

    void OnGap(in TopicGap gap);
}

// Told once when a message is stable: every subscriber of the view it was sent in holds it, or was removed from the view.
internal interface IStabilityObserver
{
    void OnStable(long sequence);

    /// <summary>The message cannot become stable any more (the node stops, or was expelled).</summary>
    void OnAbandoned(long sequence, string reason);
}
