using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The regions that one node knows because a topic that it has open lies in them (its own region is one of them). A node
// is kept up to date about these and may forget any other; one that comes into sight again is told anew.
internal sealed class Horizon
{
    private readonly Dictionary<ulong, Sight> _sights = [];
    private readonly List<ulong> _unseen = [];

    private struct Sight
    {
        // The number of the last view told.
        public uint Told;
        // Topics that the node has open and that lie in the region.
        public int Topics;
    }

    /// <summary>What the node is told in the configuration that is being made.</summary>
    public List<RegionView> NewRegions { get; } = [];

    public List<TopicView> NewTopics { get; } = [];

    public int Count => _sights.Count;

    public bool Sees(ulong regionId) => _sights.ContainsKey(regionId);

    /// <summary>The region ids in ascending order.</summary>
    public ulong[] ToSorted()
    {
        ulong[] ids = [.. _sights.Keys];
        Array.Sort(ids);
        return ids;
    }

    public void ComeIntoSight(Region region)
    {
        ref var sight = ref CollectionsMarshal.GetValueRefOrAddDefault(_sights, region.Id, out _);
        sight.Topics++;
        TellIfNew(ref sight, region);
    }

    /// <summary>One topic less; <see cref="ForgetUnseen"/> follows when all topics were looked at.</summary>
    public void GoOutOfSight(Region region)
    {
        ref var sight = ref CollectionsMarshal.GetValueRefOrNullRef(_sights, region.Id);
        if (--sight.Topics == 0)
        {
            _unseen.Add(region.Id);
        }
    }

    // Not before the end: a region may leave sight with one topic and come back with the next.
    public void ForgetUnseen()
    {
        foreach (ulong regionId in _unseen)
        {
            if (_sights.TryGetValue(regionId, out var sight) && sight.Topics == 0)
            {
                _sights.Remove(regionId);
            }
        }

        _unseen.Clear();
    }

    /// <summary>Tells the newest view of a region in sight, once.</summary>
    public void Tell(Region region) => TellIfNew(ref CollectionsMarshal.GetValueRefOrNullRef(_sights, region.Id), region);

    /// <summary>Tells the newest view of a region that the node leaves, in sight or not, once.</summary>
    public void TellLast(Region region)
    {
        if (Sees(region.Id))
        {
            Tell(region);
        }
        else if (!NewRegions.Exists(view => view.RegionId == region.Id))
        {
            NewRegions.Add(region.View!);
        }
    }

    public void ClearNews()
    {
        NewRegions.Clear();
        NewTopics.Clear();
    }

    private void TellIfNew(ref Sight sight, Region region)
    {
        if (sight.Told != region.Number)
        {
            sight.Told = region.Number;
            NewRegions.Add(region.View!);
        }
    }
}
