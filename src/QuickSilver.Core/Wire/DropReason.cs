namespace QuickSilver.Core.Wire;

// Why a packet was refused. Each reason is a counter; nothing else happens.
internal enum DropReason
{
    None = 0,
    // Shorter than a header, or than its own stated length.
    Truncated,
    // The header's fields contradict each other or the bytes at hand.
    Malformed,
    // Another version of the protocol.
    UnknownVersion,
    // A kind this version does not know.
    UnknownKind,
    // The checksum does not match: bits flipped on the way.
    Corrupt,
    // Another cluster's.
    ForeignCluster,
    // From a node (or an incarnation of it) that is not in the directory.
    UnknownSender,
    // A view that was closed here.
    StaleView,
    // A view that never became known while its packets were kept, or no room to keep them.
    UnknownView,
    // Already received.
    Duplicate,
    // A number further ahead than the window takes.
    OutOfWindow,
    // From a node that has no business in this view.
    NotMember,
    // A repair of a sender that is gone, while the members decide what of it is lost: it is asked for again after that.
    Undecided,
    // Packet memory is short, and the packet is not the next of its stream: it is asked for again when its turn comes.
    NoMemory,
    // A class of streams this version does not know.
    UnknownClass,
    // Made with a key that this node does not have.
    UnknownKey,
    // More of its kind within a second than are answered.
    RateLimited,
    // A shared packet that lists no view that is open here.
    NotListed,
    // Not sealed, where all packets are.
    Unsealed,
    // Its tag does not match: changed on the way, or made without the key; or it speaks in the name of another node.
    NotAuthentic,
    // Genuine, and has come before.
    Replayed,
}
