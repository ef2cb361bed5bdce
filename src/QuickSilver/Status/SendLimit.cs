namespace QuickSilver;

/// <summary>
/// What keeps a stream of a node from sending. A node has one stream into each region that it sends to, or two if some of its topics there
/// are best effort.
/// </summary>
public enum SendLimit
{
    /// <summary>Nothing waits to be sent. The application is the limit.</summary>
    None = 0,

    /// <summary>
    /// Only its turn: other streams send, or the core thread has other work. The processor, or the network interface, is the limit.
    /// </summary>
    Turn = 1,

    /// <summary>The window is full: the slowest receiver has not read enough of what was sent.</summary>
    Window = 2,

    /// <summary>
    /// The rate at which the slowest receiver reads, which a sender follows by itself where acknowledgements are rare.
    /// </summary>
    Rate = 3,

    /// <summary>
    /// A subscriber's reader has not taken what was sent, or earlier packets are still missing there.
    /// </summary>
    Reader = 4,

    /// <summary>
    /// What not all subscribers hold yet fills <see cref="NodeLimits.RetentionBytes"/> or packet memory.
    /// </summary>
    Memory = 5,

    /// <summary>The view is too new or not known yet, or a flush barrier of a pinned topic is not released.</summary>
    View = 6,

    /// <summary>The system had no room for datagrams.</summary>
    Socket = 7,
}
