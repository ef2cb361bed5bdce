namespace QuickSilver.Membership.Regions;

// The sets of pinned topics, with one topic in each. They are numbered after the largest number of shared sets. The number of a closed set
// is reused in a later configuration only, because in the same one its nodes have not left their regions yet.
internal sealed class PinnedSets(TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    private readonly List<SetOverlaps> _sets = [];
    private readonly SortedSet<int> _free = [];
    private readonly List<int> _closed = [];

    public SetOverlaps this[int set] => _sets[set - rules.MaxSets];

    /// <summary>Returns the number of a set without topics.</summary>
    public int Open()
    {
        if (_free.Count > 0)
        {
            int free = _free.Min;
            _free.Remove(free);
            return free;
        }

        int added = rules.MaxSets + _sets.Count;
        _sets.Add(new SetOverlaps(added, rules, keyOfTopic));
        return added;
    }

    /// <summary>Called when the set has no topic any more.</summary>
    public void Close(int set) => _closed.Add(set);

    /// <summary>Called when the configuration is made.</summary>
    public void EndChange()
    {
        foreach (int set in _closed)
        {
            _free.Add(set);
        }

        _closed.Clear();
    }
}
