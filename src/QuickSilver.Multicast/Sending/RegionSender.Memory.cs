using System.Runtime.CompilerServices;

namespace QuickSilver.Multicast.Sending;

// Memory of the collector's heap that messages need in the tables of a stream. It is taken before a message has a number: one that has a
// number and is not sent whole would be missing at its subscribers forever.
internal sealed partial class RegionSender
{
    /// <summary>Whether the tables have to grow for so many packets and claims more, and for the beginning of a topic.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsTight(int packets, int claims, bool isBeginning) =>
        _packets.IsTight(packets) || (claims > 0 && _claims.IsTight(claims)) || (isBeginning && _beginnings.IsTight);

    /// <summary>
    /// Makes room in the tables of all routes for so many packets and claims more, and for the beginning of a topic. False: the heap has no
    /// memory. A message that waits has no number yet, and is asked for when the pause is over.
    /// </summary>
    public static bool TryReserve(RegionSender[] routes, int packets, int claims, bool isBeginning)
    {
        foreach (var route in routes)
        {
            if (route.IsTight(packets, claims, isBeginning))
            {
                return TryGrow(routes, packets, claims, isBeginning);
            }
        }

        return true;
    }

    /// <summary>Makes room in the tables for so many packets and claims more, and for the beginning of a topic.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void Reserve(int packets, int claims, bool isBeginning)
    {
        var heap = Context.Environment.Heap;
        _packets.Reserve(packets, heap);
        _claims.Reserve(claims, heap);
        if (isBeginning)
        {
            _beginnings.Reserve(heap);
        }
    }

    private static bool TryGrow(RegionSender[] routes, int packets, int claims, bool isBeginning)
    {
        var shortage = routes[0].Context.Shortage;
        if (shortage.IsSenderRefused)
        {
            return false;
        }

        try
        {
            foreach (var route in routes)
            {
                route.Reserve(packets, claims, isBeginning);
            }

            return true;
        }
        catch (OutOfMemoryException)
        {
            shortage.OnSenderRefused();
            return false;
        }
    }
}
