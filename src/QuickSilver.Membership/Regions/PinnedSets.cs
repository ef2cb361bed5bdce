namespace QuickSilver.Membership.Regions;

// The sets of pinned topics, one topic in each, numbered after all that shared sets may have. The number of a set that was closed
// is given to another in a later configuration: in the same one its nodes have not left their regions yet.
internal sealed class PinnedSets(TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    private readonly List<SetOverlaps> _sets = [];
    private readonly SortedSet<int> _free = [];
    private readonly List<int> _closed = [];

    public SetOverlaps this[int set] => _sets[set - rules.MaxSets];

    /// <summary>Gives the number of a set without topics.</summary>
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

    /// <summary>The set has no topic any more.</summary>
    public void Close(int set) => _closed.Add(set);

    /// <summary>The configuration is made.</summary>
    public void EndChange()
    {
        foreach (int set in _closed)
        {
            _free.Add(set);
        }

        _closed.Clear();
    }
}
