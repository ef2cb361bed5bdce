using QuickSilver.Groups;

namespace QuickSilver.Tool.Scenarios.Groups;

// What is sent to a group, in place of topics. The plan's nodes are its members, and the first of them send.
internal sealed record GroupLoad(GroupOrder Order)
{
    /// <summary>Each message asks one other member for an answer, and the sender waits for it before it sends the next.</summary>
    public bool IsAsked { get; init; }

    /// <summary>Whether the first sender is the oldest member. Otherwise it is the second oldest.</summary>
    public bool OldestSends { get; init; }

    /// <summary>Whether the right to decide the order moves to the member that sends. Otherwise the oldest member keeps it.</summary>
    public bool OrderMoves { get; init; }

    /// <summary>So many members may send at a time, in turn; null: all senders.</summary>
    public int? Tokens { get; init; }

    /// <summary>All members that stay may send: each is a receiver of the others.</summary>
    public int MostSenders(int nodes) => ChurnInterval is null ? nodes : nodes - 1;

    /// <summary>The last member is in the group for so long, then out of it for so long, over and over; null: it stays.</summary>
    public TimeSpan? ChurnInterval { get; init; }
}
