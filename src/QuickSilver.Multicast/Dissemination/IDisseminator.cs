using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Dissemination;

// Sends the packets of one node to the members of one view.
internal interface IDisseminator
{
    int MaxRunSegments { get; }

    /// <summary>Whether packets are sent to a group, so a member that the group does not reach may miss them.</summary>
    bool UsesGroup { get; }

    /// <summary>
    /// Whether the last call returned Busy after some members got the run. Sending the same run again continues with the others.
    /// </summary>
    bool IsUnderWay { get; }

    /// <summary>How many datagrams the last call of <see cref="Spread"/> has sent.</summary>
    int SpreadDatagrams { get; }

    SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes);

    /// <summary>
    /// Sends one packet to all members, even while a run is in progress. If the socket has no room for a member's copy, that member misses
    /// it.
    /// </summary>
    SendOutcome Spread(ReadOnlySpan<byte> packet);
}
