using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Dissemination;

// How what one node sends reaches the members of one view.
internal interface IDisseminator
{
    int MaxRunSegments { get; }

    /// <summary>Whether some member may miss what is sent because its group does not reach it.</summary>
    bool UsesGroup { get; }

    /// <summary>Busy came when some had the run: it goes on with the others when the same run is sent again.</summary>
    bool IsUnderWay { get; }

    SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes);

    /// <summary>One packet to all, whatever is under way. Who finds no room in the socket misses it.</summary>
    SendOutcome Spread(ReadOnlySpan<byte> packet);
}
