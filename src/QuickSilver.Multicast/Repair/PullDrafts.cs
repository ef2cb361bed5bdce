using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Repair;

// The pulls that one turn prepares, one per target. They are reused in the next turn.
internal sealed class PullDrafts
{
    public const int Most = 32;

    private readonly List<(int Target, SequenceRanges Ranges)> _drafts = [];

    public int Count { get; private set; }

    public (int Target, SequenceRanges Ranges) this[int index] => _drafts[index];

    public void Clear() => Count = 0;

    /// <summary>Returns false when the pull is full, or when no more pulls may be made now.</summary>
    public bool TryAdd(int target, long number)
    {
        for (int i = 0; i < Count; i++)
        {
            if (_drafts[i].Target == target)
            {
                return _drafts[i].Ranges.Add(number);
            }
        }

        if (Count == Most)
        {
            return false;
        }

        if (Count == _drafts.Count)
        {
            _drafts.Add((target, new SequenceRanges(PullRequest.MaxRanges)));
        }

        var ranges = _drafts[Count].Ranges;
        ranges.Clear();
        _drafts[Count++] = (target, ranges);
        return ranges.Add(number);
    }
}
