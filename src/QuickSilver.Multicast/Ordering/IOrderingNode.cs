using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Ordering;

// The node as its topics know it.
internal interface IOrderingNode : ISendingNode, IReceivingNode
{
    new MulticastContext Context { get; }

    /// <summary>Of which topics the members take how much, and of which others' readers here do.</summary>
    CreditLimits CreditLimits { get; }

    RegionView? RegionOf(ulong region);

    /// <summary>Whether a topic that is published here goes to the member.</summary>
    bool IsRoutedTo(ulong topicId, NodeKey member);

    /// <summary>The number through which a topic's messages may be sent.</summary>
    void SetCredit(ulong topicId, long through);
}

// The node as the senders of its topics know it.
internal interface ISendingNode
{
    MulticastContext Context { get; }

    /// <summary>The last configuration applied.</summary>
    long Configuration { get; }

    /// <summary>What this node sends; made when first needed.</summary>
    SentStreams Sent { get; }

    BestEffortMarks Marks { get; }

    Stack<StabilityClaim> ClaimPool { get; }

    /// <summary>The stream into the region's current view; null where there is no view with members.</summary>
    RegionSender? SenderFor(ulong region, StreamClass streamClass);

    RegionSender? FindSender(ulong region, uint view, StreamClass streamClass);

    /// <summary>A message that nobody receives is stable, though not within the call that sends it.</summary>
    void CompleteLater(IStabilityObserver observer, long sequence);

    void WhenStable(Action callback);

    /// <summary>
    /// A topic found too little packet memory. Of what others leave of it nobody tells, so those who wait look again.
    /// </summary>
    void LookForMemoryAgain();

    /// <summary>Once until the topic is told of room.</summary>
    void Wait(TopicSender topic);

    void Forget(TopicSender topic);
}

// The node as the receivers of its topics know it.
internal interface IReceivingNode
{
    MulticastContext Context { get; }

    UnrepairedLosses Losses { get; }

    SlowReaders SlowReaders { get; }

    /// <summary>The views of a pinned topic to which this node subscribes.</summary>
    ViewSequence? ViewsOf(ulong topicId);

    /// <summary>Whether streams of older views have something that was not read yet and goes before what this one has.</summary>
    bool AwaitReadBefore(InboundStream stream);

    /// <summary>What is missing of the stream's sender may never come.</summary>
    void OnLoss(InboundStream stream);

    /// <summary>Whether all that was sent in the view was handed up here.</summary>
    bool IsOver(RegionView view);

    /// <summary>The publishers of a pinned topic may take messages, or must not.</summary>
    void SetHeld(ulong topicId, bool isHeld);

    void Forget(TopicReceiver receiver);
}
