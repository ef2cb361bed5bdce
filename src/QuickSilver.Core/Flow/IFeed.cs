namespace QuickSilver.Core.Flow;

// Something that has, or will have, something to send. It does not push it: it registers its intent with a sink, which asks it in its
// turn, when what is asked for can leave (000, section 3; 001, section 4). So nothing is buffered that can be made later, and what is
// made is made from what is known then. A sink is in turn a feed of the sink above it; the root is the socket.
internal interface IFeed
{
    /// <summary>Whether the feed waits for a turn. Set by the line that it is in, and by nothing else.</summary>
    bool IsInLine { get; set; }

    /// <summary>
    /// The feed's turn: it gives as much as the budget allows, and charges the budget. Returns whether it has more and can give it at its
    /// next turn. Otherwise it leaves the line, and registers again when it has something.
    /// </summary>
    bool Pull(ref PullBudget budget);
}

// How much a feed may give in its turn. What a pull yields is not known before, so the last item may exceed the budget; the rest of the
// turn is then the other feeds'.
internal struct PullBudget(int items, int bytes)
{
    /// <summary>How many more items the feed may give.</summary>
    public int Items { get; private set; } = items;

    /// <summary>How many more bytes the feed may give; below 0 if it gave too many.</summary>
    public int Bytes { get; private set; } = bytes;

    /// <summary>A budget that nothing exhausts.</summary>
    public static PullBudget Unlimited => new(int.MaxValue, int.MaxValue);

    /// <summary>
    /// What a topic or the lane may give at a time where no run limits it, because the core thread must return to tokens and received
    /// packets.
    /// </summary>
    public static PullBudget OneTurn => new(1024, int.MaxValue);

    public readonly bool IsSpent => Items <= 0 || Bytes <= 0;

    /// <summary>An item of so many bytes was given.</summary>
    public void Charge(int bytes) => Charge(1, bytes);

    public void Charge(int items, int bytes)
    {
        Items -= items;
        Bytes -= bytes;
    }
}
