using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Receiving;

// Which packets of a stream came, are missing, or are only known to have been sent. Pure: it is called with the time, and asks nobody.
//
// Others tell of packets (a token, an announcement) that still wait in this host's socket, and under load they overtake them as a
// rule. So what is only told of is not missing yet: it is when it was told of twice and nothing came in between.
//
// Invariants: Base - 1 <= Contiguous <= Arrived <= Highest; every number in (Contiguous, Arrived] is held or in Missing; none in
// (Arrived, Highest] is.
internal sealed class ReceiveWindow(PacketWindow packets, MulticastOptions options)
{
    // Who asked so often has asked the sender too.
    private const int AskedOfSender = 3;
    // What a sender denied is not believed for so long; until then the others have asked it as well.
    private static readonly TimeSpan Denial = TimeSpan.FromSeconds(1);

    // What Arrived was when packets were last told of.
    private long _arrivedWhenTold = -1;
    private TimeSpan _toldAt;
    private TimeSpan _deniedUntil;

    /// <summary>At most as many ranges as a window has disjoint ones, so no change of the set is ever refused.</summary>
    public SequenceRanges Missing { get; } = new(options.WindowPackets);

    /// <summary>The highest number that came or is missing.</summary>
    public long Arrived { get; private set; }

    /// <summary>The highest number known to have been sent.</summary>
    public long Highest { get; private set; }

    /// <summary>All up to here were received or given up.</summary>
    public long Contiguous => Missing.Count > 0 ? Missing[0].First - 1 : Arrived;

    /// <summary>It came before, or was given up.</summary>
    public bool HasHad(long number) => number != Arrived + 1 && (number < packets.Base || packets.Contains(number));

    /// <summary>Whether it was sent, as far as is known here, and is not held.</summary>
    public bool Lacks(long number) => (number > Arrived && number <= Highest) || Missing.Contains(number);

    /// <summary>
    /// A packet has come that was not had and lies within the window; gives what is found missing before it, a range without numbers
    /// if nothing is.
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
    /// Numbers up to this one were sent, others say. Clamped: a lie cannot make the stream remember more than a window. Gives what is
    /// missing therefore.
    /// </summary>
    public SequenceRange OnAnnounced(long highest, TimeSpan now)
    {
        highest = Math.Min(highest, packets.Base + options.WindowPackets - 1);
        if (highest <= Arrived)
        {
            return Nothing;
        }

        // Missing is what has been told of for a while in which nothing came: who was asleep reads the tokens that waited for it
        // before the packets that wait beside them.
        var missed = Nothing;
        if (_arrivedWhenTold != Arrived)
        {
            _arrivedWhenTold = Arrived;
            _toldAt = now;
        }
        else if (now - _toldAt >= options.ReorderWindow)
        {
            missed = Miss(Math.Max(highest, Highest), now);
        }

        Highest = Math.Max(highest, Highest);
        return missed;
    }

    /// <summary>
    /// What others tell of the stream, where it can be so; 0 where it is further ahead than a window after what this member lacks,
    /// or beyond what the sender has just denied.
    /// </summary>
    public long Believable(long number, TimeSpan now)
    {
        bool isTooFar = number - Contiguous > 2L * options.WindowPackets;
        bool isDenied = number > Highest && _deniedUntil > TimeSpan.Zero && now < _deniedUntil;
        return isTooFar || isDenied ? 0 : number;
    }

    /// <summary>
    /// The sender says up to where it has sent. True when others told of more: it was asked for that, and nothing of it came, so it
    /// is not missing any more.
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

    /// <summary>Numbers up to the last are missing if they have not come; gives those that were not known to be.</summary>
    public SequenceRange Miss(long last, TimeSpan now)
    {
        if (last <= Arrived)
        {
            return Nothing;
        }

        var missed = new SequenceRange(Arrived + 1, last);
        Missing.Add(missed.First, last);
        for (long n = missed.First; n <= last; n++)
        {
            ref var slot = ref packets.Missing(n);
            slot.AskedAt = now;
            slot.Asked = 0;
        }

        Arrived = last;
        return missed;
    }

    /// <summary>Marks those of the missing as lost for good that are in the range; false when none is.</summary>
    public bool TryGiveUp(long first, long last)
    {
        bool any = false;
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
    /// What of the packets after a number this member has not, or not any more, up to another number; the oldest ranges first.
    /// </summary>
    public void CopyUnsupplied(long after, long through, SequenceRanges into)
    {
        into.Clear();
        long from = -1;
        // Nothing is held beyond what arrived, however far others say that it goes.
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

    /// <summary>Lets go of everything, and goes on with this number as if all before it had come.</summary>
    public void SkipTo(long number)
    {
        Missing.Clear();
        packets.SkipTo(number);
        Arrived = number - 1;
    }

    public void Clear()
    {
        packets.Clear(Arrived);
        Missing.Clear();
    }

    private static SequenceRange Nothing => new(1, 0);
}
