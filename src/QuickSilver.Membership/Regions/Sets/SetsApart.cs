namespace QuickSilver.Membership.Regions.Sets;

// The sets of topics that are apart: one for each pinned topic, and one for each enclosure with all its topics. They are numbered after the
// largest number of shared sets. The number of a closed set is reused in a later configuration only, because in the same one its nodes have
// not left their regions yet.
internal sealed class SetsApart(TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    private readonly List<SetOverlaps> _sets = [];
    private readonly SortedSet<int> _free = [];
    private readonly List<int> _closed = [];
    // The set of each enclosure, and how many topics are in it.
    private readonly Dictionary<ulong, (int Set, int Topics)> _enclosures = [];

    public SetOverlaps this[int set] => _sets[set - rules.MaxSets];

    /// <summary>Returns the number of the set that the topic is put into.</summary>
    public int Open(MappedTopic topic)
    {
        if (topic.IsPinned)
        {
            return OpenSet();
        }

        var (set, topics) = _enclosures.TryGetValue(topic.Enclosure, out var open) ? open : (OpenSet(), 0);
        _enclosures[topic.Enclosure] = (set, topics + 1);
        return set;
    }

    /// <summary>Called when the topic is taken out of its set.</summary>
    public void Close(MappedTopic topic)
    {
        if (!topic.IsPinned)
        {
            var (set, topics) = _enclosures[topic.Enclosure];
            if (topics > 1)
            {
                _enclosures[topic.Enclosure] = (set, topics - 1);
                return;
            }

            _enclosures.Remove(topic.Enclosure);
        }

        _closed.Add(topic.Set);
    }

    /// <summary>Called when the configuration is made.</summary>
    public void EndChange()
    {
        foreach (int set in _closed)
        {
            _free.Add(set);
        }

        _closed.Clear();
    }

    private int OpenSet()
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
}
