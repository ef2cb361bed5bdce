namespace QuickSilver.Groups;

/// <summary>The order in which the members of a group get a message. Each includes the order of its sender.</summary>
public enum GroupOrder
{
    /// <summary>
    /// In the order of its sender only. Members may get messages of different senders in different orders. The fastest.
    /// </summary>
    Fifo = 0,

    /// <summary>
    /// After all messages that the sender had got, or sent itself, when it sent this one (Isis, TR 94-1432, CBCAST). An answer never comes
    /// before what it answers. Messages that do not depend on each other may come in different orders.
    /// </summary>
    Causal = 1,

    /// <summary>
    /// In one order at all members, relative to all messages with <see cref="Total"/> or <see cref="Safe"/>. One member decides the
    /// order when messages arrive there, so a message waits for one more message of that member (Isis, TR 94-1432, ABCAST). It is at first
    /// the oldest member of the view; a member that sends alone takes its place (<see cref="GroupOptions.OrderFollowsTraffic"/>).
    /// </summary>
    Total = 2,

    /// <summary>
    /// As <see cref="Total"/>, and no member gets the message before all members of the view hold it and its place in the order. So a
    /// message that one member got is got by all members that stay in the view, also if that member fails at once. It waits for the
    /// acknowledgement of the slowest member.
    /// </summary>
    Safe = 3,
}
