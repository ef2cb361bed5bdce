using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;

namespace QuickSilver.Multicast.Ordering;

// The node's interface for its topics.
internal interface IOrderingNode : ISendingNode, IReceivingNode
{
    new NodeContext Context { get; }

    /// <summary>
    /// The limits up to which members take messages of this node's topics. They include the limits of readers on this node.
    /// </summary>
    CreditLimits CreditLimits { get; }

    RegionView? RegionOf(ulong region);

    /// <summary>The newest view by which this node, a member of it, gets the topic; null if there is none.</summary>
    RegionView? OwnViewOf(ulong topicId);

    /// <summary>Whether a topic that is published here goes to the member.</summary>
    /// <param name="topicId">The topic.</param>
    /// <param name="member">The member.</param>
    /// <param name="region">Through which region; null: through any.</param>
    bool IsRoutedTo(ulong topicId, NodeKey member, ulong? region);

    /// <summary>Whether the node is a member of a view of this region into which this node sends.</summary>
    bool SendsTo(NodeKey member, ulong region, uint view);

    /// <summary>The name of a topic that is published here; null if it is not known.</summary>
    string? NameOf(ulong topicId);

    /// <summary>Sets the last number up to which a topic's messages may be sent.</summary>
    void SetCredit(ulong topicId, long through);
}

// The node's interface for the senders of its topics.
internal interface ISendingNode
{
    NodeContext Context { get; }

    /// <summary>What the streams share.</summary>
    SendingParts Sending { get; }

    /// <summary>The last configuration applied.</summary>
    long Configuration { get; }

    /// <summary>All nodes have confirmed the configurations up to this one.</summary>
    long Settled { get; }

    /// <summary>The outbound streams of this node, created when first used.</summary>
    SentStreams Sent { get; }

    BestEffortMarks Marks { get; }

    ClaimPool Claims { get; }

    /// <summary>The stream into the region's current view; null if the region has no view with members.</summary>
    RegionSender? SenderFor(ulong region, StreamClass streamClass);

    RegionSender? FindSender(ulong region, uint view, StreamClass streamClass);

    /// <summary>Reports a message that has no receivers as stable, after the call that sends it has returned.</summary>
    void CompleteLater(IStabilityObserver observer, long sequence);

    void WhenStable(Action callback);

    /// <summary>
    /// Called when a topic has found too little packet memory. No event reports that others have returned memory, so waiting topics check
    /// again after a pause.
    /// </summary>
    void LookForMemoryAgain();

    /// <summary>The topic waits for its turn at a stream whose run is full.</summary>
    void Await(RegionSender stream, TopicSender topic);

    /// <summary>
    /// The topic waits for something else: a view, memory, credit or several windows. It gets a turn whenever one of these may be there.
    /// </summary>
    void Wait(IFeed topic);

    void Forget(TopicSender topic);
}

// The node's interface for the receivers of its topics.
internal interface IReceivingNode
{
    NodeContext Context { get; }

    /// <summary>What the views share.</summary>
    ReceivingParts Receiving { get; }

    ParkingBudget Parking { get; }

    UnrepairedLosses Losses { get; }

    SlowReaders SlowReaders { get; }

    /// <summary>The views of a pinned topic to which this node subscribes; null for any other topic.</summary>
    ViewSequence? ViewsOf(ulong topicId);

    /// <summary>Whether streams of older views contain unread messages that precede those of this stream.</summary>
    bool AwaitReadBefore(ConsumedStream stream);

    /// <summary>Whether an older view than that of the stream may still bring messages of its sender.</summary>
    bool MayBringMoreBefore(ConsumedStream stream);

    /// <summary>Called when missing messages of the stream's sender may never arrive.</summary>
    void OnLoss(ConsumedStream stream);

    /// <summary>Whether this node has delivered all messages that were sent in the view.</summary>
    bool IsOver(RegionView view);

    /// <summary>Sets whether the publishers of a pinned topic must refuse messages.</summary>
    void SetHeld(ulong topicId, bool isHeld);

    void Forget(TopicReceiver receiver);

    /// <summary>See <see cref="ITopicReceiver.AwaitLast"/>.</summary>
    void AwaitLast(TopicReceiver receiver, long configuration, Action settled, Action completed);
}
