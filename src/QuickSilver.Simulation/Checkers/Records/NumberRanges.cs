namespace QuickSilver.Simulation.Checkers.Records;

// A set of numbers, stored as ascending ranges that are disjoint and not adjacent. Without losses, it is one range.
internal sealed class NumberRanges
{
    private readonly List<(long First, long Last)> _ranges = [];

    public bool IsEmpty => _ranges.Count == 0;

    public long Least => _ranges[0].First;

    /// <summary>How many of the numbers from first to last are not there.</summary>
    public long CountMissing(long first, long last) =>
        last < first
            ? 0
            : last - first + 1 - _ranges.Sum(range => Math.Max(0, Math.Min(range.Last, last) - Math.Max(range.First, first) + 1));

    /// <summary>Adds a number; false when it was there.</summary>
    public bool Add(long number)
    {
        int i = IndexBefore(number);
        if (i >= 0 && _ranges[i].Last >= number)
        {
            return false;
        }

        Add(number, number);
        return true;
    }

    /// <summary>Adds all numbers from first to last.</summary>
    public void Add(long first, long last)
    {
        // The first range that reaches it or adjoins it, and those after it that do: they become one.
        int at = IndexBefore(first - 1);
        at = at >= 0 && _ranges[at].Last >= first - 1 ? at : at + 1;
        int end = at;
        while (end < _ranges.Count && _ranges[end].First <= last + 1)
        {
            first = Math.Min(first, _ranges[end].First);
            last = Math.Max(last, _ranges[end].Last);
            end++;
        }

        if (end == at)
        {
            _ranges.Insert(at, (first, last));
        }
        else
        {
            _ranges[at] = (first, last);
            _ranges.RemoveRange(at + 1, end - at - 1);
        }
    }

    /// <summary>The least number from <paramref name="first"/> on that is not in the set.</summary>
    public long FirstMissing(long first)
    {
        int i = IndexBefore(first);
        return i >= 0 && _ranges[i].Last >= first ? _ranges[i].Last + 1 : first;
    }

    // The last range that begins at or before the number, or -1.
    private int IndexBefore(long number)
    {
        int low = 0;
        int high = _ranges.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (_ranges[middle].First <= number)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }

        return low - 1;
    }
}
