using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving.Windows;

// The packets of a stream that have come, that are missing, or that are only known to have been sent. It has no side effects: the caller
// passes the time.
//
// A token or an announcement may report packets that are still in this machine's socket; under load it usually overtakes them. So a
// packet that was only reported is not missing yet. It is missing when it was reported twice, no packet of the stream came in between, and
// the node has handled what waited in its sockets at the first time. A node that never catches up still has to notice what is lost, so that
// last condition ends after a while.
//
// Invariants: Base - 1 <= Contiguous <= Arrived <= Highest. Every number in (Contiguous, Arrived] is held or in Missing. No number in
// (Arrived, Highest] is.
internal sealed class ReceiveWindow(PacketWindow packets, NodeOptions options)
{
    // After so many requests, the sender was asked too.
    private const int AskedOfSender = 3;
    // How long a number that the sender has denied is not accepted. By then the other members have asked the sender as well.
    private static readonly TimeSpan Denial = TimeSpan.FromSeconds(1);
    // A full socket is read in less time than this.
    private static readonly TimeSpan LongestBacklog = TimeSpan.FromMilliseconds(100);

    // The value of Arrived when packets were last reported.
    private long _arrivedWhenReported = -1;
    private TimeSpan _reportedAt;
    private TimeSpan _deniedUntil;

    /// <summary>Holds as many disjoint ranges as a window can have, so no change of the set is refused.</summary>
    public SequenceRanges Missing { get; } = new(options.WindowPackets);

    /// <summary>The highest number that came or is missing.</summary>
    public long Arrived { get; private set; }

    /// <summary>The highest number known to have been sent.</summary>
    public long Highest { get; private set; }

    /// <summary>All packets up to here were received or given up.</summary>
    public long Contiguous => Missing.Count > 0 ? Missing[0].First - 1 : Arrived;

    /// <summary>Whether the packet came before or was given up.</summary>
    public bool HasHad(long number) => number != Arrived + 1 && (number < packets.Base || packets.Contains(number));

    /// <summary>Whether this member knows that the packet was sent, and does not hold it.</summary>
    public bool Lacks(long number) => (number > Arrived && number <= Highest) || Missing.Contains(number);

    /// <summary>Whether a packet needs larger tables.</summary>
    public bool IsTight(long number) => packets.IsTight(number) || (number != Arrived + 1 && Missing.IsTight);

    /// <summary>Makes room in the tables for a packet, so that adding it cannot fail in the middle.</summary>
    public void Prepare(long number)
    {
        packets.Reserve(number);
        Missing.Reserve();
    }

    /// <summary>
    /// Adds a packet that was not held and lies within the window. Returns the numbers before it that are found missing; an empty range if
    /// there are none.
    /// </summary>
    public SequenceRange Take(long number, Lease lease, int offset, int length, TimeSpan now)
    {
        packets.Put(number, lease, offset, length);
        var missed = Nothing;
        if (number > Arrived)
        {
            missed = Miss(number - 1, now);
            Arrived = number;
        }
        else
        {
            Missing.Remove(number, number);
        }

        Highest = Math.Max(Highest, number);
        return missed;
    }

    /// <summary>
    /// Records that other nodes report numbers up to this one. The number is clamped, so a false one cannot make the stream remember more
    /// than a window (T10). Returns the numbers that are missing as a result.
    /// </summary>
    /// <param name="highest">The number.</param>
    /// <param name="now">The time.</param>
    /// <param name="caughtUpAt">The node has handled all that had reached it by this time.</param>
    public SequenceRange OnAnnounced(long highest, TimeSpan now, TimeSpan caughtUpAt)
    {
        highest = Math.Min(highest, packets.Base + options.WindowPackets - 1);
        if (highest <= Arrived)
        {
            return Nothing;
        }

        // A number is missing if it was reported some time ago and nothing came meanwhile: a node that was paused reads the tokens that
        // waited for it before the packets that waited too.
        var missed = Nothing;
        if (_arrivedWhenReported != Arrived)
        {
            _arrivedWhenReported = Arrived;
            _reportedAt = now;
        }
        else if (now - _reportedAt >= options.ReorderWindow && (caughtUpAt >= _reportedAt || now - _reportedAt >= LongestBacklog))
        {
            missed = Miss(Math.Max(highest, Highest), now);
        }

        Highest = Math.Max(highest, Highest);
        return missed;
    }

    /// <summary>
    /// Returns a number that another node reported of the stream if it can be true. Returns 0 if it is further than two windows beyond the
    /// packets that this member has, or beyond a number that the sender has just denied.
    /// </summary>
    public long Believable(long number, TimeSpan now)
    {
        bool isTooFar = number - Contiguous > 2L * options.WindowPackets;
        bool isDenied = number > Highest && _deniedUntil > TimeSpan.Zero && now < _deniedUntil;
        return isTooFar || isDenied ? 0 : number;
    }

    /// <summary>
    /// The sender reports how far it has sent. Returns true when others reported more. The sender was asked for those numbers and none of
    /// them came, so they are not missing any more.
    /// </summary>
    public bool TryRetract(long sent, TimeSpan now)
    {
        if (Arrived <= sent || !Missing.ContainsAll(sent + 1, Arrived) || packets.Missing(sent + 1).Asked < AskedOfSender)
        {
            return false;
        }

        Missing.RemoveAbove(sent);
        for (long n = sent + 1; n <= Arrived; n++)
        {
            packets.Missing(n) = default;
        }

        Highest = Arrived = sent;
        _deniedUntil = now + Denial;
        return true;
    }

    /// <summary>
    /// Marks the numbers up to the last as missing if they have not come. Returns those that were not known to be missing.
    /// </summary>
    public SequenceRange Miss(long last, TimeSpan now)
    {
        if (last <= Arrived)
        {
            return Nothing;
        }

        Prepare(last);
        var missed = new SequenceRange(Arrived + 1, last);
        Missing.Add(missed.First, last);
        for (long n = missed.First; n <= last; n++)
        {
            ref var slot = ref packets.Missing(n);
            slot.AskedAt = now;
            slot.Asked = 0;
            slot.IsHeldElsewhere = false;
        }

        Arrived = last;
        return missed;
    }

    /// <summary>Marks the missing numbers in the range as lost. Returns false if there are none.</summary>
    public bool TryGiveUp(long first, long last)
    {
        bool any = false;
        Missing.Reserve();
        for (int i = 0; i < Missing.Count; i++)
        {
            var (from, to) = Missing[i];
            for (long n = Math.Max(from, first); n <= Math.Min(to, last); n++)
            {
                packets.PutLost(n);
                any = true;
            }
        }

        Missing.Remove(first, last);
        return any;
    }

    /// <summary>
    /// Copies the numbers in (after, through] that this member cannot supply, the oldest ranges first. It may have consumed and dropped
    /// some of them.
    /// </summary>
    public void CopyUnsupplied(long after, long through, SequenceRanges into)
    {
        into.Clear();
        long from = -1;
        // Nothing is held beyond Arrived, whatever numbers others report.
        for (long n = after + 1; n <= Math.Min(through, Arrived); n++)
        {
            bool lacks = !packets.Holds(n);
            if (lacks && from < 0)
            {
                from = n;
            }
            else if (!lacks && from >= 0)
            {
                if (!into.Add(from, n - 1))
                {
                    return;
                }

                from = -1;
            }
        }

        from = from >= 0 ? from : Math.Max(after, Arrived) + 1;
        if (from <= through)
        {
            into.Add(from, through);
        }
    }

    /// <summary>Releases everything, and continues with this number as if all packets before it had come.</summary>
    public void SkipTo(long number)
    {
        Missing.Clear();
        packets.SkipTo(number);
        Arrived = number - 1;
        Highest = Math.Max(Highest, Arrived);
    }

    public void Clear()
    {
        packets.Clear(Arrived);
        Missing.Clear();
    }

    private static SequenceRange Nothing => new(1, 0);
}
