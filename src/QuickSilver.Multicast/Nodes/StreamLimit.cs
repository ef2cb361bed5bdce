namespace QuickSilver.Multicast.Nodes;

// What keeps an outbound stream from sending. The order is that of the counters; see StreamLimitTimes.
internal enum StreamLimit : byte
{
    // Nothing waits to be sent.
    Idle,
    // Nothing but its turn: other streams send, and the core thread has other work.
    Turn,
    // The window: the slowest member has not read enough of what was sent.
    Window,
    // The rate at which the slowest member reads, where acknowledgements are rare.
    Rate,
    // Readers of a member have not taken what was sent, or packets before it are missing there.
    Reader,
    // What is not acknowledged by all fills the memory for it.
    Memory,
    // The view is too new, or is not known yet, or a flush barrier holds it.
    View,
    // The system had no room for a datagram.
    Socket,
}
