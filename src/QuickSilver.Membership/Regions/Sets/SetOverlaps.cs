using System.Runtime.InteropServices;

namespace QuickSilver.Membership.Regions.Sets;

// The number of nodes that subscribe to exactly the same topics of one set. They form a region.
internal sealed class Overlap
{
    public int Nodes { get; set; }

    /// <summary>The sum of the weights of their topics.</summary>
    public required long Weight { get; set; }

    // For one walk over a topic's subscribers: the number of the walk, and how many of the subscribers are in this overlap.
    public int Walk { get; set; }
    public int Met { get; set; }
}

// The overlaps of one set in the configuration that is being made, and the cost of topics in the set. The cost is the number of sends that
// a message of each topic takes times the topic's weight, plus the cost of the nodes' places in the set. The weight of a topic is its
// number of subscribers, because popular topics are busy, and a service does not know their traffic. Costs are integers, so that the order
// in which subscribers are visited has no effect.
internal sealed class SetOverlaps(int set, TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    // By key and number of topics. Topic sets with the same key and number are counted as one; such a collision makes a cost wrong, but
    // never a region.
    private readonly Dictionary<(TopicSetKey Key, int Topics), Overlap> _overlaps = [];
    private readonly List<Overlap> _met = [];
    private int _walk;

    /// <summary>The number of regions of the set.</summary>
    public int Count => _overlaps.Count;

    public void Enter(Place place, MappedTopic topic)
    {
        Withdraw(place);
        place.Wanted.Add(topic.Id);
        place.Weight += topic.Weight;
        Deposit(place);
    }

    public void Leave(Place place, MappedTopic topic)
    {
        Withdraw(place);
        place.Wanted.Remove(topic.Id);
        place.Weight -= topic.Weight;
        Deposit(place);
    }

    /// <summary>Called when the node was removed.</summary>
    public void Withdraw(Place place)
    {
        if (place.Overlap is { } overlap)
        {
            place.Overlap = null;
            if (--overlap.Nodes == 0)
            {
                _overlaps.Remove((place.Wanted.Key, place.Wanted.Count));
            }
        }
    }

    /// <summary>Sets the weight of a topic in the set to its present number of subscribers.</summary>
    public void Reweigh(MappedTopic topic)
    {
        long more = topic.Subscribers - topic.Weight;
        topic.Weight = topic.Subscribers;
        MeetSubscribers(topic);
        foreach (var overlap in _met)
        {
            overlap.Weight += more;
        }

        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes)
            {
                opener.Node.PlaceIn(set)!.Weight += more;
            }
        }
    }

    /// <summary>The increase of the set's cost if a topic is added, and the number of regions that the set then has.</summary>
    public (long Cost, int Overlaps) WithTopic(MappedTopic topic, long membershipCost)
    {
        int outside = MeetSubscribers(topic);
        long weight = topic.Subscribers;
        long cost = outside == 0 ? 0 : (rules.Sends(outside) * weight) + (membershipCost * outside);
        int overlaps = _overlaps.Count + (outside == 0 ? 0 : 1);
        foreach (var overlap in _met)
        {
            int others = overlap.Nodes - overlap.Met;
            cost += rules.Sends(overlap.Met) * (overlap.Weight + weight);
            cost += (rules.Sends(others) - rules.Sends(overlap.Nodes)) * overlap.Weight;
            overlaps += others == 0 ? 0 : 1;
        }

        return (cost, overlaps);
    }

    /// <summary>Whether a topic makes no small region of larger ones, and none of nodes that were in no region of the set.</summary>
    public bool StaysRegularWith(MappedTopic topic)
    {
        int outside = MeetSubscribers(topic);
        bool isSmall = topic.Subscribers < rules.SmallRegion;
        if (outside > 0 && outside < rules.SmallRegion && !(isSmall && outside == topic.Subscribers))
        {
            return false;
        }

        foreach (var overlap in _met)
        {
            int others = overlap.Nodes - overlap.Met;
            if (others == 0 ? isSmall && overlap.Met < topic.Subscribers : Math.Min(overlap.Met, others) < rules.SmallRegion)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>The decrease of the set's cost if a topic is removed from it.</summary>
    public long WithoutTopic(MappedTopic topic, long membershipCost)
    {
        MeetSubscribers(topic);
        long gain = 0;
        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes && opener.Node.PlaceIn(set) is { Overlap: { Met: > 0 } overlap } place)
            {
                // Counts each overlap once, at the first of its nodes.
                overlap.Met = 0;
                gain += GainOfMerging(overlap, place.Wanted, topic, membershipCost);
            }
        }

        return gain;
    }

    private long GainOfMerging(Overlap overlap, TopicSet wanted, MappedTopic topic, long membershipCost)
    {
        long gain = rules.Sends(overlap.Nodes) * overlap.Weight;
        if (wanted.Count == 1)
        {
            return gain + (membershipCost * overlap.Nodes);
        }

        int others = _overlaps.TryGetValue((wanted.Key - keyOfTopic(topic.Id), wanted.Count - 1), out var rest) ? rest.Nodes : 0;
        return gain + ((rules.Sends(others) - rules.Sends(overlap.Nodes + others)) * (overlap.Weight - topic.Weight));
    }

    // Counts the topic's subscribers in each overlap. Returns how many are in none.
    private int MeetSubscribers(MappedTopic topic)
    {
        _walk++;
        _met.Clear();
        int outside = 0;
        foreach (var opener in topic.Openers)
        {
            if (!opener.Subscribes)
            {
                continue;
            }

            if (opener.Node.PlaceIn(set)?.Overlap is not { } overlap)
            {
                outside++;
                continue;
            }

            if (overlap.Walk != _walk)
            {
                overlap.Walk = _walk;
                overlap.Met = 0;
                _met.Add(overlap);
            }

            overlap.Met++;
        }

        return outside;
    }

    private void Deposit(Place place)
    {
        if (place.Wanted.Count == 0)
        {
            return;
        }

        ref var overlap = ref CollectionsMarshal.GetValueRefOrAddDefault(
            _overlaps, (place.Wanted.Key, place.Wanted.Count), out _);
        overlap ??= new Overlap { Weight = place.Weight };
        overlap.Nodes++;
        place.Overlap = overlap;
    }
}
