using System.Runtime.InteropServices;

namespace QuickSilver.Membership.Regions;

// The regions that one node knows because it is a member or because a topic that it may publish to lies in them. A node is
// kept up to date about these and may forget any other; one that comes into sight again is told anew.
//
// A region goes out of sight with a view that the node is told, never between two: a node numbers what it sends from 1 in each
// view, so while a view lasts it must keep the numbers, and only the next one lets it forget them. A region without a reason left
// lingers until then.
internal sealed class Horizon
{
    private readonly Dictionary<ulong, Sight> _sights = [];

    private struct Sight
    {
        // The number of the last view told.
        public uint Told;
        // Its membership, and the topics that lie in the region and that it may publish to.
        public int Reasons;
        // The node is among those that linger at the region, where it stays until the view ends, also with a new reason.
        public bool IsListed;
    }

    /// <summary>What the node is told in the configuration that is being made.</summary>
    public RegionNews News { get; } = new([], [], []);

    public int Count => _sights.Count;

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
        sight.Reasons++;
        TellIfNew(ref sight, region);
    }

    /// <summary>The regions whose end of view this node is listed for.</summary>
    public IEnumerable<ulong> Listed => _sights.Where(entry => entry.Value.IsListed).Select(entry => entry.Key);

    /// <summary>One reason less. True when none is left and the node is to be listed for the view's end.</summary>
    public bool LoseReason(Region region)
    {
        ref var sight = ref CollectionsMarshal.GetValueRefOrNullRef(_sights, region.Id);
        if (--sight.Reasons > 0 || sight.IsListed)
        {
            return false;
        }

        sight.IsListed = true;
        return true;
    }

    /// <summary>The view for whose end the node was listed is over.</summary>
    public void EndLingering(Region region)
    {
        ref var sight = ref CollectionsMarshal.GetValueRefOrNullRef(_sights, region.Id);
        sight.IsListed = false;
        if (sight.Reasons == 0)
        {
            TellIfNew(ref sight, region);
            _sights.Remove(region.Id);
            News.OutOfSight.Add(region.Id);
        }
    }

    /// <summary>Tells the newest view of a region in sight, once.</summary>
    public void Tell(Region region) => TellIfNew(ref CollectionsMarshal.GetValueRefOrNullRef(_sights, region.Id), region);

    public void ClearNews()
    {
        News.Regions.Empty();
        News.Topics.Empty();
        News.OutOfSight.Empty();
    }

    private void TellIfNew(ref Sight sight, Region region)
    {
        if (sight.Told != region.Number)
        {
            sight.Told = region.Number;
            News.Regions.Add(region.View!);
        }
    }
}
