using System.Runtime.InteropServices;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// Moves nodes to the regions of the topics to which they subscribe in each set, all moves of one configuration at once. Nodes that
// subscribe to the same topics of a set become members of one region. If no region has these topics yet, a new one forms. If all members of
// an existing region move to the forming region, the forming one takes over the id and address of the existing one (of the largest such
// region, then of the lowest id). Nodes that open the same topics together therefore keep their region and multicast group, and only the
// view changes.
internal sealed class RegionReform(AddressPlan addresses, uint firstRegion, TopicSetRules rules, RepairRules repair)
{
    private readonly Dictionary<TopicSetKey, List<Region>> _bySet = [];
    private readonly SortedDictionary<ulong, Region> _regions = [];
    private readonly List<Region> _changed = [];
    private readonly List<Region> _forming = [];
    // Starts at a random number. Two services that start in the same second have the same epoch, and a node that moves from one to the
    // other must not confuse a region of the second with one of the first.
    private uint _nextRegion = firstRegion;

    public IReadOnlyDictionary<ulong, Region> Regions => _regions;

    /// <summary>The keys of views; null: packets are not sealed.</summary>
    public RegionKeys? Keys { get; set; }

    /// <summary>The regions with a new view in the last configuration, in the order in which they began to change.</summary>
    public List<Region> Changed => _changed;

    /// <summary>The regions that continue from the earlier service.</summary>
    public int Adopted { get; private set; }

    /// <param name="moved">The places whose nodes arrive, leave, or have other topics.</param>
    /// <param name="outworn">The regions that need a new view, whether or not their members or topics change.</param>
    /// <param name="topics">All topics.</param>
    /// <param name="configuration">The configuration that is being made.</param>
    /// <param name="adoptable">
    /// The origin that nodes must have so that their regions continue; null: this is not the first configuration.
    /// </param>
    public void Run(
        List<Place> moved,
        List<Region> outworn,
        Dictionary<ulong, MappedTopic> topics,
        long configuration,
        HashSet<Origin>? adoptable = null)
    {
        foreach (var place in moved)
        {
            Move(place, topics);
        }

        outworn.ForEach(Change);
        uint epoch = (uint)(configuration >> 32);
        foreach (var region in _changed.FindAll(static region => region.IsAdopted))
        {
            Succeed(region, epoch);
        }

        if (adoptable is not null)
        {
            Adopt(configuration, adoptable);
        }

        foreach (var region in _forming)
        {
            if (region.IsForming)
            {
                Settle(region, epoch);
            }
        }

        // A forming region that was merged into an older one has no members of its own.
        _changed.RemoveAll(region => region.IsForming);
        foreach (var region in _changed)
        {
            region.MakeMembers();
            if (region is { IsAdopted: true, IsNew: true })
            {
                continue;
            }

            if (!region.IsSucceeded)
            {
                SetGroup(region, configuration);
            }

            region.MakeView(configuration, repair, Keys);
            if (region.Members.Count == 0)
            {
                if (!region.IsSucceeded)
                {
                    Unindex(region);
                }

                _regions.Remove(region.Id);
            }
        }
    }

    /// <summary>Forgets which regions the last configuration changed.</summary>
    public void EndChange()
    {
        _changed.Empty();
        _forming.Empty();
    }

    // In the first set each node needs one group, which every host can provide. In the other sets, a region gets a group when it has
    // SmallRegion members, and keeps it until fewer than half of that are left, so that its members need not leave and join with every
    // change. The region of a pinned topic gets one with fewer members, because its messages are sent into no other region, while its
    // members have few such groups.
    private void SetGroup(Region region, long configuration)
    {
        int members = region.Members.Count;
        int few = region.IsPinned ? Math.Min(rules.SmallPinnedRegion, rules.SmallRegion) : rules.SmallRegion;
        int least = region.Group is not null ? (few + 1) / 2
            : members >= few && members < rules.SmallRegion && HaveFewSmallGroups(region) ? few
            : rules.SmallRegion;
        bool wants = members > 0 && (region.Set == 0 || members >= least);
        if (wants)
        {
            region.Group ??= addresses.Take(region.Id);
        }
        else if (region.Group is { } group)
        {
            addresses.Release(region.Id, group, configuration);
            // The last view of a region that dissolves still contains its group.
            region.Group = members == 0 ? group : null;
        }
    }

    private bool HaveFewSmallGroups(Region region) => region.Members.TrueForAll(place => SmallGroupsOf(place.Node) < rules.SmallGroups);

    private int SmallGroupsOf(MappedNode node)
    {
        int groups = 0;
        foreach (var place in node.Places)
        {
            groups += place?.Region is { IsPinned: true, Group: not null } region && region.Members.Count < rules.SmallRegion ? 1 : 0;
        }

        return groups;
    }

    private void Move(Place place, Dictionary<ulong, MappedTopic> topics)
    {
        var from = place.Region;
        var to = place.Node.IsRemoved || place.Wanted.Count == 0 ? null : FindOrForm(place.Set, place.Received, topics);
        if (from == to)
        {
            if (place.IsRenewed && to is not null)
            {
                Change(to);
            }

            return;
        }

        if (from is not null)
        {
            Change(from);
            from.Leaving.Add(place);
        }

        if (to is not null)
        {
            Change(to);
            to.Arriving.Add(place);
        }

        place.Previous = from;
        place.Region = to;
    }

    private void Change(Region region)
    {
        if (region.BeginChange())
        {
            _changed.Add(region);
        }
    }

    private Region FindOrForm(int set, TopicSet wanted, Dictionary<ulong, MappedTopic> topics)
    {
        if (_bySet.TryGetValue(wanted.Key, out var candidates))
        {
            foreach (var candidate in candidates)
            {
                if (candidate.Set == set && candidate.HasSameTopics(wanted))
                {
                    return candidate;
                }
            }
        }

        var forming = new Region(set, wanted.Key, Array.ConvertAll(wanted.ToSorted(), id => topics[id]));
        Index(forming);
        _forming.Add(forming);
        return forming;
    }

    private void Settle(Region forming, uint epoch)
    {
        var heir = FindPredecessor(forming);
        if (heir is null)
        {
            Establish(forming, epoch);
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

    private void Establish(Region region, uint epoch)
    {
        ulong id = ((ulong)epoch << 32) | _nextRegion++;
        region.Establish(id);
        _regions.Add(id, region);
    }

    private void Adopt(long configuration, HashSet<Origin> adoptable)
    {
        var complete = _forming.FindAll(region => adoptable.Contains(region.Arriving[0].Node.Origin));
        foreach (var (region, view) in RegionAdoption.Choose(complete, configuration, repair))
        {
            // Without the key, no later node could be let into the view.
            bool isKeyed = Keys is null || view.Key is not null;
            if (isKeyed && (view.Group is null || addresses.TryTake(view.Group)))
            {
                region.Adopt(view);
                _regions.Add(region.Id, region);
                Adopted++;
            }
        }
    }

    // Nodes that stay in the region or arrive continue in a new one with its topics and its group.
    private void Succeed(Region region, uint epoch)
    {
        if (region.Arriving.Count == 0 && region.Members.TrueForAll(place => place.Region != region))
        {
            return;
        }

        var heir = new Region(region.Set, region.SetKey, region.Topics);
        Unindex(region);
        Index(heir);
        Establish(heir, epoch);
        Change(heir);
        foreach (var place in region.Members)
        {
            if (place.Region == region)
            {
                region.Leaving.Add(place);
                Move(place, heir);
            }
        }

        region.Arriving.ForEach(place => Move(place, heir));
        region.Arriving.Clear();
        region.GiveGroupTo(heir);
    }

    private static void Move(Place place, Region to)
    {
        place.Region = to;
        to.Arriving.Add(place);
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
            if (node.Previous is { IsAdopted: false } previous && !candidates.Contains(previous) && MovesWhollyTo(previous, forming))
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
