using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// Why a range of messages does not come.
internal enum TopicGapReason
{
    // Nobody who is left has them.
    SenderGone = 0,
    // They were sent while this node was in another cluster than the sender.
    SentElsewhere = 1,
    // Lost, and the topic does not repair.
    Unrepaired = 2,
}

// A range of a sender's messages in a topic that this subscriber will never get, ends included.
internal readonly record struct TopicGap(NodeKey Sender, ulong TopicId, long First, long Last, TopicGapReason Reason);

// A range of a sender's messages that came, and that the subscription had no room for so far, ends included.
internal readonly record struct UntakenRange(NodeKey Sender, long First, long Last);
