using System.Runtime.InteropServices;

namespace QuickSilver.Membership.Regions;

// The nodes that want exactly the same topics of one set: what becomes a region, counted.
internal sealed class Overlap
{
    public int Nodes { get; set; }

    /// <summary>Of their topics, together.</summary>
    public required long Weight { get; set; }

    // For one walk over a topic's subscribers: which walk it was, and how many of them are in here.
    public int Walk { get; set; }
    public int Met { get; set; }
}

// One set's overlaps as the coming configuration will have them, and what a topic costs in it: the sends that a message of
// each topic takes, times the topic's weight, and the places of nodes in the set. A topic weighs as much as it has subscribers,
// since popular topics are busy ones, and a service does not know their traffic. Costs are whole numbers, so that the order in
// which the subscribers are visited has no effect.
internal sealed class SetOverlaps(int set, TopicSetRules rules, Func<ulong, TopicSetKey> keyOfTopic)
{
    // By key and number of topics: sets of topics that share both are counted as one. That makes a cost wrong, never a region.
    private readonly Dictionary<(TopicSetKey Key, int Topics), Overlap> _overlaps = [];
    private readonly List<Overlap> _met = [];
    private int _walk;

    /// <summary>How many regions the set has.</summary>
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

    /// <summary>The node is gone.</summary>
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

    /// <summary>A topic in the set counts for as many subscribers as it has now.</summary>
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

    /// <summary>What the set costs more with a topic that is not in it, and how many regions it has then.</summary>
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

    /// <summary>What the set costs less without a topic that is in it.</summary>
    public long WithoutTopic(MappedTopic topic, long membershipCost)
    {
        MeetSubscribers(topic);
        long gain = 0;
        foreach (var opener in topic.Openers)
        {
            if (opener.Subscribes && opener.Node.PlaceIn(set) is { Overlap: { Met: > 0 } overlap } place)
            {
                // Once for each overlap, at the first of its nodes.
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

    // Counts the topic's subscribers in each overlap; gives how many are in none.
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
