using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving;

// How the heap memory for received messages is divided. The budget of reassembly gives large messages its limit, small ones an eighth of it
// and copies a sixteenth, and all of them as much once more where messages would otherwise wait for each other. With 8 parts as its limit,
// that is 19 parts. Messages that wait for a reader have 4.
internal readonly record struct ReceivedShares(long Bytes)
{
    private const int Parts = 23;
    private const int OfReassembly = 8;
    private const int OfParking = 4;

    // At most some windows of a sender are in flight until it stops.
    private const long MostOfTopic = 16L << 20;

    /// <summary>So much that there is room for the largest message.</summary>
    public const long LeastBytes = (long)NodeOptions.MaxMessageBytes / OfReassembly * Parts;

    public long ReassemblyBytes => Bytes / Parts * OfReassembly;

    public long ParkedBytes => Bytes / Parts * OfParking;

    public long ParkedBytesOfTopic => Math.Min(MostOfTopic, ParkedBytes / 2);
}
