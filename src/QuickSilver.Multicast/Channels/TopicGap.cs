using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// The reason why a range of messages cannot be received.
internal enum TopicGapReason
{
    // No remaining member holds them.
    SenderGone = 0,
    // They were sent while this node and the sender were in different clusters.
    SentElsewhere = 1,
    // They were lost, and the topic does not repair losses.
    Unrepaired = 2,
    // Nothing can bring them any more, and no fault explains it.
    Unaccounted = 3,
}

// A range of a sender's messages in a topic that this subscriber will not receive, First and Last included.
internal readonly record struct TopicGap(NodeKey Sender, ulong TopicId, long First, long Last, TopicGapReason Reason);

// A range of a sender's messages that arrived and for which the subscription has had no room so far, First and Last included.
internal readonly record struct UntakenRange(NodeKey Sender, long First, long Last);
