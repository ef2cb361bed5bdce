namespace QuickSilver.Membership.Regions.Sets;

// Partitions the topics into sets, so that a node is a member of few regions although no two nodes subscribe to the same topics.
//
// Intuition: if all nodes have different interests, regions of equal interest in all topics are single nodes, and a message must be sent to
// each of them. Among a few topics interests coincide: a node is a member of one region per set, and a message is sent only to the regions
// of its topic's set. The greedy rule of QSM (section 3 of the paper) begins with the largest topic, adds the topics that overlap without
// creating small regions, and then begins the next set with the largest topic that is left. Here each topic, the largest first, is put into
// the set in which it adds the least cost (SetOverlaps). A new set is one of the choices while there are fewer than MaxSets. This is the
// same greedy approach, but a topic that comes later finds its set by the same rule, and no other topic moves.
//
// Policy under churn: a change of a subscription moves its node in the set of its topic and in no other set, and a topic stays in its set.
// There are two exceptions, each of which the preceding changes pay for. First, a topic is weighed again when its subscriptions have
// changed half as often as it has subscribers, and is moved if that saves a quarter of its cost; the move takes each subscriber through two
// sets. Second, if the overlap is irregular, all topics are partitioned again when there have been half as many changes as there are
// subscriptions, because many small topics together can break up a set in which none of them alone makes a difference. Over any history,
// nodes therefore change regions at most ten times for each change of a subscription: once for the change itself, four times for topics
// that move, and five times for new partitions. A system without changes has no moves.
//
// A pinned topic has a set of its own in addition to these, whatever it costs, and so have all topics of one enclosure together. The rules
// above do not apply to them.
internal sealed class TopicSets(TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    private const int ChangesToSubscribers = 2;
    // A move must save at least this fraction of the cost (1/4).
    private const int LeastSaving = 4;

    private readonly List<SetOverlaps> _sets = [];
    private readonly SetsApart _apart = new(rules, keyOfTopic);
    private readonly List<MappedTopic> _changed = [];
    private readonly List<Place> _moved = [];
    // With one region for all, the topics that any node wants. Otherwise null.
    private readonly TopicSet? _common = rules.Policy == TopicSetPolicy.OneForAll ? new TopicSet(keyOfTopic) : null;
    private bool _hasCommonChanged;
    private long _membershipCost = 1;
    private long _subscriptions;
    private long _changesSincePartition;

    /// <summary>The places whose nodes have changed their subscriptions or were removed.</summary>
    public List<Place> Moved => _moved;

    /// <summary>The topics whose subscriptions changed.</summary>
    public List<MappedTopic> Changed => _changed;

    /// <summary>How often a topic was moved from one set to another.</summary>
    public long Reassignments { get; private set; }

    /// <summary>How often all topics were partitioned again.</summary>
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

            // An empty place may be left from an earlier partition with more sets.
            if (place.Overlap is not null)
            {
                SetOf(place.Set).Withdraw(place);
            }

            MarkMoved(place);
        }
    }

    /// <summary>Called when the topic lost a subscriber, possibly because its node was removed.</summary>
    public void NoteLost(MappedTopic topic) => NoteChange(topic, subscriptions: -1);

    /// <summary>Changes with which other topics the topic may share its set.</summary>
    public void SetPlace(MappedTopic topic, bool isPinned, ulong enclosure)
    {
        TakeOut(topic);
        CloseIfApart(topic);
        topic.Set = -1;
        bool wasApart = topic.IsApart;
        topic.IsPinned = isPinned;
        topic.Enclosure = enclosure;
        if (topic.IsApart != wasApart)
        {
            // The subscriptions of shared topics are counted; those of topics that are apart are not.
            _subscriptions += wasApart ? topic.Subscribers : -topic.Subscribers;
            _hasCommonChanged |= _common?.Remove(topic.Id) == true;
        }

        NoteChange(topic, subscriptions: 0);
    }

    private SetOverlaps SetOf(int set) => set < rules.MaxSets ? _sets[set] : _apart[set];

    private void CloseIfApart(MappedTopic topic)
    {
        if (topic.Set >= rules.MaxSets)
        {
            _apart.Close(topic);
        }
    }

    private void NoteChange(MappedTopic topic, int subscriptions)
    {
        if (!topic.IsApart)
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

    /// <summary>Assigns a set to every topic that has subscribers, the largest topic first.</summary>
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
            if (_sets.Count == 0 && rules.Policy == TopicSetPolicy.LeastCost)
            {
                PutAsBefore();
            }
        }

        // After a new partition, only topics that are apart are left to place.
        foreach (var topic in _changed)
        {
            if (topic.Subscribers == 0)
            {
                CloseIfApart(topic);
                _hasCommonChanged |= _common?.Remove(topic.Id) == true;
                topic.Set = -1;
            }
            else if (topic.Set < 0)
            {
                Put(topic, topic.IsApart ? _apart.Open(topic) : SetFor(topic));
            }
            else if (rules.Policy == TopicSetPolicy.LeastCost && topic.ChangesSincePlaced * ChangesToSubscribers >= topic.Subscribers)
            {
                Reconsider(topic);
            }
        }

        if (_hasCommonChanged)
        {
            _hasCommonChanged = false;
            MoveAll(topics);
        }
    }

    // In the first configuration: the topics that nodes bring along from the service before stay in their sets.
    private void PutAsBefore()
    {
        foreach (var topic in _changed)
        {
            if (topic is { Subscribers: > 0, Set: < 0, IsApart: false } && topic.SetBefore(rules.MaxSets) is var set and >= 0)
            {
                while (_sets.Count < set)
                {
                    _sets.Add(new SetOverlaps(_sets.Count, rules, keyOfTopic));
                }

                Put(topic, set);
            }
        }
    }

    // All nodes of the one region get other topics.
    private void MoveAll(IEnumerable<MappedTopic> topics)
    {
        foreach (var topic in topics.Where(topic => topic.Set == 0))
        {
            foreach (var opener in topic.Openers)
            {
                if (opener.Subscribes)
                {
                    MarkMoved(opener.Node.PlaceIn(0)!);
                }
            }
        }
    }

    /// <summary>Called when the configuration is made.</summary>
    public void EndChange()
    {
        _apart.EndChange();
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

    private bool IsIrregular => rules.Policy == TopicSetPolicy.LeastCost
        && (_sets.Count > 1 || (_sets.Count == 1 && _sets[0].Count > rules.RegularOverlaps));

    private static int LargestFirst(MappedTopic a, MappedTopic b) =>
        a.Subscribers != b.Subscribers ? b.Subscribers.CompareTo(a.Subscribers) : a.Id.CompareTo(b.Id);

    private void PartitionAnew(IEnumerable<MappedTopic> topics)
    {
        Partitions++;
        _changesSincePartition = 0;
        var all = new List<MappedTopic>();
        foreach (var topic in topics)
        {
            if (topic.IsApart)
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
            Put(topic, SetFor(topic));
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

    private int SetFor(MappedTopic topic) => rules.Policy switch
    {
        TopicSetPolicy.OneEach => _sets.Count,
        TopicSetPolicy.OneForAll => 0,
        TopicSetPolicy.FirstRegular => FirstRegular(topic),
        _ => Choose(topic, except: -1).Set,
    };

    private int FirstRegular(MappedTopic topic)
    {
        int set = _sets.FindIndex(set => set.StaysRegularWith(topic));
        return set < 0 ? _sets.Count : set;
    }

    // Includes the choice of a new set. Set is -1 if there is no choice.
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
        if (!topic.IsApart && set == _sets.Count)
        {
            _sets.Add(new SetOverlaps(set, rules, keyOfTopic));
        }

        _hasCommonChanged |= !topic.IsApart && _common?.Add(topic.Id) == true;
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
        var place = node.PlaceIn(topic.Set) ?? node.AddPlace(topic.Set, keyOfTopic, topic.IsApart ? null : _common);
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
