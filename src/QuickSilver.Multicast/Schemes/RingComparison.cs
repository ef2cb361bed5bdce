using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Schemes;

// What a member learns from a token about the packets of one stream that it lacks.
internal readonly ref struct RingComparison
{
    // What is compared: the gaps of this member or, where it speaks for a ring, of all members of that ring.
    public required SequenceRanges Lacked { get; init; }

    // The seat before, and what it lacks of the packets up to NeighbourThrough.
    public required DatagramAddress? Neighbour { get; init; }
    public required SequenceRanges NeighbourGaps { get; init; }
    public required long NeighbourThrough { get; init; }

    // What none of the seats that the token has visited is known to hold.
    public required UnheldPackets Unheld { get; init; }

    /// <summary>Whether the seat before holds the packet.</summary>
    public bool IsAtNeighbour(long number) => number <= NeighbourThrough && !NeighbourGaps.Contains(number);
}
