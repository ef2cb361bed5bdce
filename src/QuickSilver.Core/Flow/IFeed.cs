namespace QuickSilver.Core.Flow;

// Something that has, or will have, bytes to send. It does not push them: it registers its intent with a sink, and the
// sink pulls when its policy and its own sink allow. So nothing is buffered that can be made later, and control packets
// are made from fresh state at the moment of sending.
internal interface IFeed
{
    /// <summary>The feed's place in the line of the one sink that it is registered with; made once per feed.</summary>
    FeedLink Link { get; }

    /// <summary>
    /// The feed's turn: it writes items into <see cref="PullContext.Room"/> and commits each, as many as
    /// <see cref="PullContext.ItemsAllowed"/> says. It returns whether it has more. If so it stays in line, else its intent
    /// is withdrawn and it registers again when there is something. A feed whose next item needs more room than is left
    /// writes nothing and returns true; it keeps its turn. One that writes nothing into an untouched context is withdrawn
    /// whatever it returns and even if it registered meanwhile, since pulling it again would spin.
    /// </summary>
    bool Pull(ref PullContext context);
}

// Strict order between feeds of one sink; turns are taken within each.
internal enum FeedPriority : byte
{
    // The ring stands still while its token waits behind data: the known weakness of the original.
    Token,
    // Views, heartbeats, acknowledgements: small, and others wait for them.
    Control,
    // Before new data, as unrepaired packets fill everyone's buffers.
    Repair,
    Data,
}

// Intrusive: registering allocates nothing, withdrawing searches nothing.
internal sealed class FeedLink(IFeed feed, FeedPriority priority)
{
    internal FeedLink? Next;
    internal FeedLink? Previous;
    internal ISink? Sink;

    public IFeed Feed { get; } = feed;

    public FeedPriority Priority { get; } = priority;

    public bool IsRegistered => Sink is not null;
}
