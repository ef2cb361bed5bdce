namespace QuickSilver.Core.Wire;

// Set algebra for repair: what I lack and you hold is my gaps intersected with yours received; what nobody lacks any more
// is subtracted. Each is one walk over both sides, never one search per range. Where a result passes the bound, its
// lowest ranges are kept and false says so: the oldest losses are the most urgent ones.
internal sealed partial class SequenceRanges
{
    public void CopyFrom(SequenceRanges other)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(other._count, MaxRanges, nameof(other));
        EnsureCapacity(ref _ranges, other._count, 0);
        other.Ranges.CopyTo(_ranges);
        _count = other._count;
        TotalNumbers = other.TotalNumbers;
    }

    /// <summary>Adds all of <paramref name="other"/>. False: the bound was met, and not all was added.</summary>
    public bool UnionWith(SequenceRanges other)
    {
        bool isWhole = true;
        foreach (var range in other.Ranges)
        {
            isWhole &= Add(range.First, range.Last);
        }

        return isWhole;
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

    /// <summary>Removes what is in <paramref name="other"/>. False: the bound was met, the highest were left out.</summary>
    public bool Subtract(SequenceRanges other)
    {
        var result = new Builder(this);
        int theirs = 0;
        for (int mine = 0; mine < _count; mine++)
        {
            long first = _ranges[mine].First;
            long last = _ranges[mine].Last;
            while (theirs < other._count && other._ranges[theirs].Last < first)
            {
                theirs++;
            }

            for (int cut = theirs; cut < other._count && other._ranges[cut].First <= last; cut++)
            {
                if (other._ranges[cut].First > first)
                {
                    result.Append(first, other._ranges[cut].First - 1);
                }

                first = other._ranges[cut].Last + 1;
                theirs = cut;
            }

            if (first <= last)
            {
                result.Append(first, last);
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
