namespace QuickSilver.Membership.Regions;

// Parts the topics into sets, so that a node lies in few regions although no two nodes want the same topics.
//
// Intuition: where everybody's interest is their own, regions of equal interest in all topics are single nodes, and a message
// goes to each of them. Among a few topics interests coincide: nodes lie in one region per set, and a message goes to the
// regions of its topic's set only. QSM's greedy rule (section 3 of the paper) begins with the largest topic and adds those
// that overlap without making small regions, then begins the next set with the largest that is left. Here each topic, the
// largest first, goes where it adds the least cost (SetOverlaps), a new set being one of the choices while there are fewer
// than MaxSets. It is the same greed, but a topic that comes later finds its set by the same rule, and nothing else moves.
//
// Policy under churn: a change of a subscription moves its node in the set of its topic and nowhere else, and a topic stays in
// its set, but for two cases that the changes before them pay for. A topic is weighed again when its subscriptions have changed
// half as often as it has subscribers, and moves where that saves a quarter of its cost; this takes each subscriber through two
// sets. And everything is parted anew, where overlap is irregular, when there have been half as many changes as there are
// subscriptions: many small topics together can break up a set in which none of them alone makes a difference. So over any
// history nodes change regions at most ten times for each change of a subscription: once for itself, four times for topics
// that move, five times for new partitions; and a system that stays as it is has none of either.
//
// A pinned topic is in a set of its own beside these, whatever it costs: what is said of sets above is not about them.
internal sealed class TopicSets(TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    private const int ChangesToSubscribers = 2;
    // Moves save at least this part of the cost.
    private const int LeastSaving = 4;

    private readonly List<SetOverlaps> _sets = [];
    private readonly PinnedSets _pinned = new(rules, keyOfTopic);
    private readonly List<MappedTopic> _changed = [];
    private readonly List<Place> _moved = [];
    private long _membershipCost = 1;
    private long _subscriptions;
    private long _changesSincePartition;

    /// <summary>The places whose nodes want other topics than they had, or are gone.</summary>
    public List<Place> Moved => _moved;

    /// <summary>The topics whose subscriptions changed.</summary>
    public List<MappedTopic> Changed => _changed;

    /// <summary>How often a topic went from one set to another.</summary>
    public long Reassignments { get; private set; }

    /// <summary>How often all topics were parted anew.</summary>
    public long Partitions { get; private set; }

    public void Subscribe(MappedNode node, MappedTopic topic)
    {
        NoteChange(topic, subscriptions: 1);
        if (topic.Set >= 0)
        {
            Enter(node, topic);
            var place = node.PlaceIn(topic.Set)!;
            place.IsRenewed |= place.Region is { } region && region.Contains(topic.Id);
        }
    }

    public void Unsubscribe(MappedNode node, MappedTopic topic)
    {
        NoteLost(topic);
        if (topic.Set >= 0)
        {
            Leave(node, topic);
        }
    }

    public void Remove(MappedNode node)
    {
        foreach (var place in node.Places)
        {
            if (place is null)
            {
                continue;
            }

            // A place that is empty may be left from an earlier partition with more sets.
            if (place.Overlap is not null)
            {
                SetOf(place.Set).Withdraw(place);
            }

            MarkMoved(place);
        }
    }

    /// <summary>The topic lost a subscriber, perhaps with its node.</summary>
    public void NoteLost(MappedTopic topic) => NoteChange(topic, subscriptions: -1);

    /// <summary>Whether the topic is pinned changes, as may be where one node alone has it open.</summary>
    public void SetPinned(MappedTopic topic, bool isPinned)
    {
        TakeOut(topic);
        CloseIfPinned(topic);
        topic.Set = -1;
        // It counts among the shared ones, or not any more.
        _subscriptions += isPinned ? -topic.Subscribers : topic.Subscribers;
        topic.IsPinned = isPinned;
        NoteChange(topic, subscriptions: 0);
    }

    private SetOverlaps SetOf(int set) => set < rules.MaxSets ? _sets[set] : _pinned[set];

    private void CloseIfPinned(MappedTopic topic)
    {
        if (topic.Set >= rules.MaxSets)
        {
            _pinned.Close(topic.Set);
        }
    }

    private void NoteChange(MappedTopic topic, int subscriptions)
    {
        if (!topic.IsPinned)
        {
            _subscriptions += subscriptions;
            _changesSincePartition++;
            topic.ChangesSincePlaced++;
        }

        if (!topic.IsChanged)
        {
            topic.IsChanged = true;
            _changed.Add(topic);
        }
    }

    /// <summary>Gives every topic that has subscribers its set, the largest first.</summary>
    public void Assign(IEnumerable<MappedTopic> topics, int nodes)
    {
        _membershipCost = rules.MembershipCost(nodes);
        if (IsIrregular && _changesSincePartition * ChangesToSubscribers >= _subscriptions)
        {
            PartitionAnew(topics);
        }
        else
        {
            _changesSincePartition = _sets.Count == 0 ? 0 : _changesSincePartition;
            _changed.Sort(LargestFirst);
        }

        // After a new partition only pinned topics are left to place.
        foreach (var topic in _changed)
        {
            if (topic.Subscribers == 0)
            {
                CloseIfPinned(topic);
                topic.Set = -1;
            }
            else if (topic.Set < 0)
            {
                Put(topic, topic.IsPinned ? _pinned.Open() : Choose(topic, except: -1).Set);
            }
            else if (topic.ChangesSincePlaced * ChangesToSubscribers >= topic.Subscribers)
            {
                Reconsider(topic);
            }
        }
    }

    /// <summary>The configuration is made.</summary>
    public void EndChange()
    {
        _pinned.EndChange();
        foreach (var topic in _changed)
        {
            topic.IsChanged = false;
        }

        _changed.Empty();
        foreach (var place in _moved)
        {
            place.IsMoved = false;
            place.IsRenewed = false;
            place.Previous = null;
        }

        _moved.Empty();
    }

    private bool IsIrregular => _sets.Count > 1 || (_sets.Count == 1 && _sets[0].Count > rules.RegularOverlaps);

    private static int LargestFirst(MappedTopic a, MappedTopic b) =>
        a.Subscribers != b.Subscribers ? b.Subscribers.CompareTo(a.Subscribers) : a.Id.CompareTo(b.Id);

    private void PartitionAnew(IEnumerable<MappedTopic> topics)
    {
        Partitions++;
        _changesSincePartition = 0;
        var all = new List<MappedTopic>();
        foreach (var topic in topics)
        {
            if (topic.IsPinned)
            {
                continue;
            }

            TakeOut(topic);
            topic.Set = -1;
            if (topic.Subscribers > 0)
            {
                all.Add(topic);
            }
        }

        _sets.Clear();
        all.Sort(LargestFirst);
        foreach (var topic in all)
        {
            Put(topic, Choose(topic, except: -1).Set);
        }
    }

    private void TakeOut(MappedTopic topic)
    {
        if (topic.Set < 0)
        {
            return;
        }

        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes)
            {
                Leave(opener.Node, topic);
            }
        }
    }

    private void Reconsider(MappedTopic topic)
    {
        int from = topic.Set;
        topic.ChangesSincePlaced = 0;
        _sets[from].Reweigh(topic);
        if (from == 0 && _sets[0].Count <= rules.RegularOverlaps)
        {
            return;
        }

        long gain = _sets[from].WithoutTopic(topic, _membershipCost) + rules.FarCost(from, topic.Subscribers);
        var (to, cost) = Choose(topic, except: from);
        if (to >= 0 && (gain - cost) * LeastSaving >= gain)
        {
            Reassignments++;
            TakeOut(topic);
            Put(topic, to);
        }
    }

    // A set that is not there yet is a choice too; -1 where there is none.
    private (int Set, long Cost) Choose(MappedTopic topic, int except)
    {
        int best = -1;
        long bestCost = long.MaxValue;
        for (int set = 0; set < _sets.Count; set++)
        {
            if (set == except)
            {
                continue;
            }

            var (cost, overlaps) = _sets[set].WithTopic(topic, _membershipCost);
            if (set == 0 && overlaps <= rules.RegularOverlaps)
            {
                return (0, cost);
            }

            cost += rules.FarCost(set, topic.Subscribers);
            if (cost < bestCost)
            {
                best = set;
                bestCost = cost;
            }
        }

        long alone = ((rules.Sends(topic.Subscribers) + _membershipCost) * topic.Subscribers)
            + rules.FarCost(_sets.Count, topic.Subscribers);
        if (_sets.Count < rules.MaxSets && (best < 0 || alone < bestCost))
        {
            return (_sets.Count, alone);
        }

        return (best, bestCost);
    }

    private void Put(MappedTopic topic, int set)
    {
        if (!topic.IsPinned && set == _sets.Count)
        {
            _sets.Add(new SetOverlaps(set, rules, keyOfTopic));
        }

        topic.Set = set;
        topic.ChangesSincePlaced = 0;
        topic.Weight = topic.Subscribers;
        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes)
            {
                Enter(opener.Node, topic);
            }
        }
    }

    private void Enter(MappedNode node, MappedTopic topic)
    {
        var place = node.PlaceIn(topic.Set) ?? node.AddPlace(topic.Set, keyOfTopic);
        SetOf(topic.Set).Enter(place, topic);
        MarkMoved(place);
    }

    private void Leave(MappedNode node, MappedTopic topic)
    {
        var place = node.PlaceIn(topic.Set)!;
        SetOf(topic.Set).Leave(place, topic);
        MarkMoved(place);
    }

    private void MarkMoved(Place place)
    {
        if (!place.IsMoved)
        {
            place.IsMoved = true;
            _moved.Add(place);
        }
    }
}
