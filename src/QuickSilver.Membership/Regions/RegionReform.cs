using System.Runtime.InteropServices;

namespace QuickSilver.Membership.Regions;

// Moves nodes to the regions of their topic sets, all the moves of one configuration at once: who has the same set meets
// in one region. A set that no region has forms one; when some region's members all go to that forming region, it takes
// the old one's id and address over (the largest such, then the lowest id), so that nodes that open the same topics
// together change neither their region nor its multicast group, only its view.
internal sealed class RegionReform(AddressPlan addresses, uint firstRegion)
{
    private readonly Dictionary<TopicSetKey, List<Region>> _bySet = [];
    private readonly SortedDictionary<ulong, Region> _regions = [];
    private readonly List<Region> _changed = [];
    private readonly List<Region> _forming = [];
    // Starts at a random number: two services that are born in the same second have the same epoch, and a node that goes
    // over from one to the other must not take a region of the second for one of the first.
    private uint _nextRegion = firstRegion;

    public IReadOnlyDictionary<ulong, Region> Regions => _regions;

    /// <summary>The regions with a new view in the last configuration, in the order in which they came to change.</summary>
    public List<Region> Changed => _changed;

    /// <param name="moved">Who comes, goes, or has other topics.</param>
    /// <param name="outworn">Regions that need a new view, whether or not their members or topics change.</param>
    /// <param name="topics">All topics.</param>
    /// <param name="configuration">The configuration that is being made.</param>
    public void Run(List<MappedNode> moved, List<Region> outworn, Dictionary<ulong, MappedTopic> topics, long configuration)
    {
        _changed.Clear();
        _forming.Clear();
        foreach (var node in moved)
        {
            Move(node, topics);
        }

        outworn.ForEach(Change);

        foreach (var region in _forming)
        {
            Settle(region, (uint)(configuration >> 32));
        }

        // A forming region that was taken into an older one has no members of its own.
        _changed.RemoveAll(region => region.IsForming);
        foreach (var region in _changed)
        {
            region.MakeView(configuration);
            if (region.Members.Count == 0)
            {
                Unindex(region);
                _regions.Remove(region.Id);
                addresses.Release(region.Group!, configuration);
            }
        }
    }

    private void Move(MappedNode node, Dictionary<ulong, MappedTopic> topics)
    {
        var from = node.Region;
        var to = node.IsRemoved || node.Wanted.Count == 0 ? null : FindOrForm(node.Wanted, topics);
        if (from == to)
        {
            if (node.IsRenewed && to is not null)
            {
                Change(to);
            }

            return;
        }

        if (from is not null)
        {
            Change(from);
            from.Leaving.Add(node);
        }

        if (to is not null)
        {
            Change(to);
            to.Arriving.Add(node);
        }

        node.Previous = from;
        node.Region = to;
    }

    private void Change(Region region)
    {
        if (region.BeginChange())
        {
            _changed.Add(region);
        }
    }

    private Region FindOrForm(TopicSet set, Dictionary<ulong, MappedTopic> topics)
    {
        if (_bySet.TryGetValue(set.Key, out var candidates))
        {
            foreach (var candidate in candidates)
            {
                if (candidate.HasSameTopics(set))
                {
                    return candidate;
                }
            }
        }

        var forming = new Region(set.Key, Array.ConvertAll(set.ToSorted(), id => topics[id]));
        Index(forming);
        _forming.Add(forming);
        return forming;
    }

    private void Settle(Region forming, uint epoch)
    {
        var heir = FindPredecessor(forming);
        if (heir is null)
        {
            ulong id = ((ulong)epoch << 32) | _nextRegion++;
            forming.Establish(id, addresses.Take(id));
            _regions.Add(id, forming);
            return;
        }

        Unindex(heir);
        Unindex(forming);
        heir.TakeOver(forming);
        Index(heir);
        foreach (var node in forming.Arriving)
        {
            node.Region = heir;
            if (node.Previous != heir)
            {
                heir.Arriving.Add(node);
            }
        }

        heir.Leaving.Clear();
        forming.EndChange();
    }

    private static Region? FindPredecessor(Region forming)
    {
        Region? best = null;
        foreach (var candidate in CollectCandidates(forming))
        {
            if (best is null
                || candidate.Members.Count > best.Members.Count
                || (candidate.Members.Count == best.Members.Count && candidate.Id < best.Id))
            {
                best = candidate;
            }
        }

        return best;
    }

    private static List<Region> CollectCandidates(Region forming)
    {
        var candidates = new List<Region>();
        foreach (var node in forming.Arriving)
        {
            if (node.Previous is { } previous && !candidates.Contains(previous) && MovesWhollyTo(previous, forming))
            {
                candidates.Add(previous);
            }
        }

        return candidates;
    }

    private static bool MovesWhollyTo(Region region, Region forming) =>
        region.Arriving.Count == 0
        && region.Leaving.Count == region.Members.Count
        && region.Leaving.TrueForAll(node => node.Region == forming);

    private void Index(Region region) =>
        (CollectionsMarshal.GetValueRefOrAddDefault(_bySet, region.SetKey, out _) ??= []).Add(region);

    private void Unindex(Region region)
    {
        var list = _bySet[region.SetKey];
        list.Remove(region);
        if (list.Count == 0)
        {
            _bySet.Remove(region.SetKey);
        }
    }
}
