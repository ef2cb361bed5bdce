using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The regions that are visible to one node, because it is a member or because a topic to which it may publish is in them. The node gets
// each view of these regions and may forget all others. It gets the view of a region that becomes visible again.
//
// Invariant: a region stops being visible only with a view that the node gets, never between two views. A node numbers the packets that it
// sends from 1 in each view, so it must keep the numbers as long as the view lasts. A region without a remaining reason stays visible until
// its view ends.
internal sealed class VisibleRegions
{
    // Stands for the news of all nodes that have none. No code writes to it.
    private static readonly RegionNews NoNews = new([], [], []);

    private readonly Dictionary<ulong, Visibility> _regions = [];
    // Null while there is none: a service keeps no lists for its idle nodes.
    private RegionNews? _news;

    private struct Visibility
    {
        // The number of the last view that the node got.
        public uint SentNumber;
        // The number of reasons: its membership, and each topic in the region to which it may publish.
        public int Reasons;
        // Whether the node got it with its key. A node without a remaining reason to see the view gets its beginning and not the key.
        public bool IsKeySent;
        // Whether the node is in Region.AwaitingViewEnd, where it stays until the view ends, even if it gets a new reason.
        public bool AwaitsViewEnd;
    }

    /// <summary>What the configuration that is being made says to the node. Only to be read.</summary>
    public RegionNews News => _news ?? NoNews;

    private RegionNews Begun => _news ??= new RegionNews([], [], []);

    public int Count => _regions.Count;

    /// <summary>The region ids in ascending order.</summary>
    public ulong[] ToSorted()
    {
        ulong[] ids = [.. _regions.Keys];
        Array.Sort(ids);
        return ids;
    }

    public void AddReason(Region region)
    {
        ref var visibility = ref CollectionsMarshal.GetValueRefOrAddDefault(_regions, region.Id, out _);
        visibility.Reasons++;
        SendIfNew(ref visibility, region);
        if (!visibility.IsKeySent && region.View is { Key: not null } view && !News.Regions.Contains(view))
        {
            Begun.Regions.Add(view);
        }
    }

    /// <summary>Takes the keys out of the news of views that the node has no reason to see, when all reasons are known.</summary>
    public void WithholdKeys()
    {
        for (int i = 0; i < News.Regions.Count; i++)
        {
            var view = News.Regions[i];
            ref var visibility = ref CollectionsMarshal.GetValueRefOrNullRef(_regions, view.RegionId);
            bool mayHave = !Unsafe.IsNullRef(ref visibility) && visibility.Reasons > 0;
            News.Regions[i] = mayHave ? view : view with { Key = null };
            if (!Unsafe.IsNullRef(ref visibility))
            {
                visibility.IsKeySent = mayHave;
            }
        }
    }

    /// <summary>Whether the node may have the key of the region's view.</summary>
    public bool HasReason(ulong region) => _regions.TryGetValue(region, out var visibility) && visibility.Reasons > 0;

    public bool Contains(ulong region) => _regions.ContainsKey(region);

    /// <summary>The regions whose AwaitingViewEnd list contains this node.</summary>
    public IEnumerable<ulong> AwaitingViewEnd => _regions.Where(entry => entry.Value.AwaitsViewEnd).Select(entry => entry.Key);

    /// <summary>Removes a reason. Returns true if none is left and the node must be added to Region.AwaitingViewEnd.</summary>
    public bool RemoveReason(Region region)
    {
        ref var visibility = ref CollectionsMarshal.GetValueRefOrNullRef(_regions, region.Id);
        if (--visibility.Reasons > 0 || visibility.AwaitsViewEnd)
        {
            return false;
        }

        visibility.AwaitsViewEnd = true;
        return true;
    }

    /// <summary>Called when the view that the node awaited to end has ended.</summary>
    public void OnViewEnded(Region region)
    {
        ref var visibility = ref CollectionsMarshal.GetValueRefOrNullRef(_regions, region.Id);
        visibility.AwaitsViewEnd = false;
        if (visibility.Reasons == 0)
        {
            SendIfNew(ref visibility, region);
            _regions.Remove(region.Id);
            Begun.OutOfSight.Add(region.Id);
        }
    }

    /// <summary>Sends the node the newest view of a visible region, once.</summary>
    public void Send(Region region) => SendIfNew(ref CollectionsMarshal.GetValueRefOrNullRef(_regions, region.Id), region);

    /// <summary>Adds the view of a topic to the news.</summary>
    public void Send(TopicView view) => Begun.Topics.Add(view);

    public void ClearNews() => _news = null;

    private void SendIfNew(ref Visibility visibility, Region region)
    {
        if (visibility.SentNumber != region.Number)
        {
            visibility.SentNumber = region.Number;
            Begun.Regions.Add(region.View!);
        }
    }
}
