using System.Diagnostics;

namespace QuickSilver.Core.Wire;

// A set of sequence numbers kept as sorted ranges that neither overlap nor touch: what is received, what is missing, what
// a repair request asks for. Loss comes in runs (a full receive buffer drops a whole run of datagrams), so ranges stay
// few where single numbers would be many.
//
// IntersectWith and AddMissing are one walk over both sides, never one search per range. Where a result passes the bound, its lowest
// ranges are kept and false says so: the oldest losses are the most urgent ones.
//
// Bounded: the set never holds more than MaxRanges ranges. An operation that would need one more (an addition that
// touches nothing, a removal from the middle of a range) does nothing and returns false; the caller counts that and
// lives with it. A set over a window of w numbers never needs more than w / 2 + 1 ranges, so an owner that knows its
// window picks a bound that is never met.
//
// Numbers run from 0 to MaxNumber, which leaves out long.MaxValue: one past the last number always exists, and the
// size of every set fits. The array grows by doubling and never shrinks: in the steady state nothing allocates.
[DebuggerDisplay("{ToString(),nq}")]
internal sealed class SequenceRanges
{
    public const long MaxNumber = long.MaxValue - 1;
    private const int InitialCapacity = 8;

    private SequenceRange[] _ranges = [];
    // The result of IntersectWith is made here and swapped in.
    private SequenceRange[] _spare = [];
    private int _count;

    public SequenceRanges(int maxRanges)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxRanges, 1);
        MaxRanges = maxRanges;
    }

    public int MaxRanges { get; }

    /// <summary>How many ranges the set consists of.</summary>
    public int Count => _count;

    public bool IsEmpty => _count == 0;

    /// <summary>How many numbers the set holds.</summary>
    public long TotalNumbers { get; private set; }

    public SequenceRange this[int index] => Ranges[index];

    /// <summary>The ranges, ascending; valid until the set changes.</summary>
    public ReadOnlySpan<SequenceRange> Ranges => _ranges.AsSpan(0, _count);

    public bool Contains(long number)
    {
        int at = FirstEndingAtOrAfter(number);
        return at < _count && _ranges[at].First <= number;
    }

    public bool ContainsAll(long first, long last)
    {
        int at = FirstEndingAtOrAfter(first);
        return at < _count && _ranges[at].First <= first && _ranges[at].Last >= last;
    }

    /// <summary>Whether the next change may need a larger array.</summary>
    public bool IsTight => _count == _ranges.Length && _count < MaxRanges;

    /// <summary>Makes room for one range more, so that the next change of one range does not allocate.</summary>
    public void Reserve() => EnsureCapacity(ref _ranges, Math.Min(_count + 1, MaxRanges), _count);

    public bool Add(long number) => Add(number, number);

    /// <summary>Adds all of first to last. False: one range more would pass the bound; nothing was added.</summary>
    public bool Add(long first, long last)
    {
        ThrowIfNoRange(first, last);
        // All ranges that overlap or touch the new one melt into it.
        int from = first == 0 ? 0 : FirstEndingAtOrAfter(first - 1);
        int to = from;
        long melted = 0;
        while (to < _count && _ranges[to].First <= last + 1)
        {
            first = Math.Min(first, _ranges[to].First);
            last = Math.Max(last, _ranges[to].Last);
            melted += _ranges[to].Numbers;
            to++;
        }

        if (from == to && _count == MaxRanges)
        {
            return false;
        }

        var range = new SequenceRange(first, last);
        Replace(from, to - from, [range]);
        TotalNumbers += range.Numbers - melted;
        return true;
    }

    public bool Remove(long number) => Remove(number, number);

    /// <summary>Removes all of first to last. False: splitting a range would pass the bound; nothing was removed.</summary>
    public bool Remove(long first, long last)
    {
        ThrowIfNoRange(first, last);
        int from = FirstEndingAtOrAfter(first);
        int to = from;
        long removed = 0;
        while (to < _count && _ranges[to].First <= last)
        {
            removed += Math.Min(last, _ranges[to].Last) - Math.Max(first, _ranges[to].First) + 1;
            to++;
        }

        if (from == to)
        {
            return true;
        }

        Span<SequenceRange> rest = stackalloc SequenceRange[2];
        int kept = 0;
        if (_ranges[from].First < first)
        {
            rest[kept++] = new SequenceRange(_ranges[from].First, first - 1);
        }

        if (_ranges[to - 1].Last > last)
        {
            rest[kept++] = new SequenceRange(last + 1, _ranges[to - 1].Last);
        }

        if (_count - (to - from) + kept > MaxRanges)
        {
            return false;
        }

        Replace(from, to - from, rest[..kept]);
        TotalNumbers -= removed;
        return true;
    }

    /// <summary>Forgets all numbers greater than <paramref name="number"/>; splits nothing, so it is never refused.</summary>
    public void RemoveAbove(long number)
    {
        if (number < MaxNumber)
        {
            Remove(Math.Max(number + 1, 0), MaxNumber);
        }
    }

    /// <summary>Keeps what is also in <paramref name="other"/>. False: the bound was met, the highest were left out.</summary>
    public bool IntersectWith(SequenceRanges other)
    {
        var result = new Builder(this);
        int mine = 0;
        int theirs = 0;
        while (mine < _count && theirs < other._count)
        {
            var one = _ranges[mine];
            var two = other._ranges[theirs];
            long first = Math.Max(one.First, two.First);
            long last = Math.Min(one.Last, two.Last);
            if (first <= last)
            {
                result.Append(first, last);
            }

            if (one.Last < two.Last)
            {
                mine++;
            }
            else
            {
                theirs++;
            }
        }

        return result.Finish();
    }

    /// <summary>Adds to <paramref name="gaps"/> every number of first to last that is not in this set. False: the bound of
    /// <paramref name="gaps"/> was met; the lowest gaps are in.</summary>
    public bool AddMissing(long first, long last, SequenceRanges gaps)
    {
        ThrowIfNoRange(first, last);
        for (int at = FirstEndingAtOrAfter(first); at < _count && _ranges[at].First <= last; at++)
        {
            if (_ranges[at].First > first && !gaps.Add(first, _ranges[at].First - 1))
            {
                return false;
            }

            first = _ranges[at].Last + 1;
        }

        return first > last || gaps.Add(first, last);
    }

    public void Clear()
    {
        _count = 0;
        TotalNumbers = 0;
    }

    public override string ToString()
    {
        var text = new System.Text.StringBuilder();
        foreach (var range in Ranges[..Math.Min(_count, 20)])
        {
            text.Append(text.Length == 0 ? "" : ", ").Append(range);
        }

        return _count > 20 ? $"{text}, … ({_count} ranges)" : text.ToString();
    }

    // The index of the first range that does not lie wholly before the number; Count when all do.
    private int FirstEndingAtOrAfter(long number)
    {
        int low = 0;
        int high = _count;
        // Most looks are at the end: the newest packet.
        if (high > 0 && _ranges[high - 1].Last < number)
        {
            return high;
        }

        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_ranges[middle].Last < number)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low;
    }

    private void Replace(int at, int replaced, ReadOnlySpan<SequenceRange> with)
    {
        int count = _count - replaced + with.Length;
        EnsureCapacity(ref _ranges, count, _count);
        var tail = _ranges.AsSpan(at + replaced, _count - at - replaced);
        tail.CopyTo(_ranges.AsSpan(at + with.Length));
        with.CopyTo(_ranges.AsSpan(at));
        _count = count;
    }

    private void EnsureCapacity(ref SequenceRange[] array, int needed, int kept)
    {
        if (needed > array.Length)
        {
            int doubled = Math.Max(array.Length * 2, InitialCapacity);
            var larger = new SequenceRange[Math.Min(MaxRanges, Math.Max(doubled, needed))];
            array.AsSpan(0, kept).CopyTo(larger);
            array = larger;
        }
    }

    private static void ThrowIfNoRange(long first, long last)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(first);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(last, MaxNumber);
        ArgumentOutOfRangeException.ThrowIfLessThan(last, first);
    }

    // Collects an ascending result in the spare array and swaps it in.
    private ref struct Builder(SequenceRanges set)
    {
        private readonly SequenceRanges _set = set;
        private int _count;
        private long _total;
        private bool _isCut;

        public void Append(long first, long last)
        {
            if (_count == _set.MaxRanges)
            {
                _isCut = true;
                return;
            }

            _set.EnsureCapacity(ref _set._spare, _count + 1, _count);
            var range = new SequenceRange(first, last);
            _set._spare[_count++] = range;
            _total += range.Numbers;
        }

        public readonly bool Finish()
        {
            (_set._ranges, _set._spare) = (_set._spare, _set._ranges);
            _set._count = _count;
            _set.TotalNumbers = _total;
            return !_isCut;
        }
    }
}
