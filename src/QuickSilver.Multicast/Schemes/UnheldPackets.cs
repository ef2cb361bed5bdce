using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Schemes;

// The packets of one stream that none of some members holds, as far as these have reported: those in Gaps, and all after Through.
//
// Invariants: each packet up to Through that is not in Gaps is held by one of the members. Each packet in Gaps up to KnownThrough is
// missing at all of them: it was sent before a packet that has reached them, so it is no longer on its way. At most 20 gaps are reported
// (as in the released source of QSM); Through is lower if there are more.
internal sealed class UnheldPackets
{
    public const int MaxGaps = 20;

    // Two sets of so many gaps, each with what the other does not report, have at most so many in common.
    private const int MostInCommon = (MaxGaps * 2) + 1;

    private SequenceRanges? _spare;

    public SequenceRanges Gaps { get; private set; } = new(MostInCommon);

    public long Through { get; set; }

    public long KnownThrough { get; set; }

    // How long ago the oldest part was reported.
    public TimeSpan Age { get; set; }

    public static void Copy(SequenceRanges from, SequenceRanges into)
    {
        into.Clear();
        for (int i = 0; i < from.Count && i < MaxGaps; i++)
        {
            into.Add(from[i].First, from[i].Last);
        }
    }

    /// <summary>Whether one of the members is known to hold the packet.</summary>
    public bool IsHeld(long number) => number <= Through && !Gaps.Contains(number);

    /// <summary>The members have reported nothing.</summary>
    public void Clear()
    {
        Gaps.Clear();
        Through = KnownThrough = 0;
        Age = TimeSpan.Zero;
    }

    /// <summary>One member lacks these packets, and has or misses all up to <paramref name="arrived"/>.</summary>
    public void Set(SequenceRanges missing, long arrived)
    {
        Copy(missing, Gaps);
        Through = missing.Count > Gaps.Count ? missing[Gaps.Count].First - 1 : arrived;
        KnownThrough = Through;
        Age = TimeSpan.Zero;
    }

    public void CopyFrom(UnheldPackets other)
    {
        Copy(other.Gaps, Gaps);
        Through = other.Through;
        KnownThrough = other.KnownThrough;
        Age = other.Age;
    }

    /// <summary>Adds more members: what one of them holds is held.</summary>
    public void IntersectWith(UnheldPackets other)
    {
        long through = Math.Max(Through, other.Through);
        var theirs = _spare ??= new SequenceRanges(MostInCommon);
        Copy(other.Gaps, theirs);
        AddUnreported(theirs, other.Through, through);
        AddUnreported(Gaps, Through, through);
        Gaps.IntersectWith(theirs);
        Through = through;
        KnownThrough = Math.Min(KnownThrough, other.KnownThrough);
        Age = other.Age > Age ? other.Age : Age;
        Limit(MaxGaps);
    }

    /// <summary>Continues a later round with what an earlier round of the same members has found: what was held then still is.</summary>
    public void Continue(UnheldPackets earlier, long stable)
    {
        if (earlier.Through <= stable)
        {
            return;
        }

        var gaps = _spare ??= new SequenceRanges(MostInCommon);
        Copy(earlier.Gaps, gaps);
        for (int i = 0; i < Gaps.Count; i++)
        {
            var (first, last) = Gaps[i];
            if (last > earlier.Through)
            {
                gaps.Add(Math.Max(first, earlier.Through + 1), last);
            }
        }

        gaps.Remove(0, stable);
        (Gaps, _spare) = (gaps, Gaps);
        Through = Math.Max(Through, earlier.Through);
        Limit(MaxGaps);
    }

    /// <summary>Adds what these members lack in addition.</summary>
    public void AddGapsOf(UnheldPackets other)
    {
        for (int i = 0; i < other.Gaps.Count && other.Gaps[i].First <= Through; i++)
        {
            Gaps.Add(other.Gaps[i].First, Math.Min(other.Gaps[i].Last, Through));
        }

        Limit(MaxGaps);
    }

    /// <summary>Reports no more gaps than these, and so less far.</summary>
    public void Limit(int gaps)
    {
        if (Gaps.Count > gaps)
        {
            Through = Gaps[gaps].First - 1;
            Gaps.RemoveAbove(Through);
            KnownThrough = Math.Min(KnownThrough, Through);
        }
    }

    /// <summary>Reports no more than what all members know of.</summary>
    public void LimitToKnown()
    {
        Through = Math.Min(Through, KnownThrough);
        Gaps.RemoveAbove(Through);
    }

    // What is not reported is not known to be held.
    private static void AddUnreported(SequenceRanges gaps, long reported, long limit)
    {
        if (reported < limit)
        {
            gaps.Add(reported + 1, limit);
        }
    }
}
