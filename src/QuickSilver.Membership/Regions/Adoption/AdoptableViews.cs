using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions.Adoption;

// The views that a node holds from the service before this one, as the node reports them, and by which of them it gets each topic.
internal sealed class AdoptableViews
{
    private readonly Dictionary<ulong, HeldView> _views = [];
    private readonly Dictionary<ulong, ulong> _regionOfTopic = [];
    private readonly Dictionary<ulong, int> _topicsOfRegion = [];

    private AdoptableViews()
    {
    }

    /// <summary>What a node reports; null: nothing.</summary>
    /// <param name="topics">
    /// The topics, each with the region by which the node gets it, and with the view of that region where the node reports it.
    /// </param>
    /// <param name="known">The last configuration that the node has.</param>
    public static AdoptableViews? Of(IEnumerable<(ulong Topic, ulong Region, HeldView? View)> topics, long known)
    {
        AdoptableViews? held = null;
        foreach (var (topic, region, reported) in topics)
        {
            if (reported is { Number: > 0, Configuration: > 0 } view && view.Configuration <= known && view.RegionId == region)
            {
                (held ??= new AdoptableViews())._views.TryAdd(region, view);
            }

            if (held is not null && held._views.ContainsKey(region) && held._regionOfTopic.TryAdd(topic, region))
            {
                held._topicsOfRegion[region] = held.TopicsOf(region) + 1;
            }
        }

        return held;
    }

    /// <summary>The view by which the node gets the topic; null: none that was reported.</summary>
    public HeldView? ViewOf(ulong topic) =>
        _regionOfTopic.TryGetValue(topic, out ulong region) ? _views.GetValueOrDefault(region) : null;

    /// <summary>How many topics the node gets by this region.</summary>
    public int TopicsOf(ulong region) => _topicsOfRegion.GetValueOrDefault(region);

    /// <summary>The node does not get the topic by that region any more.</summary>
    public void Forget(ulong topic)
    {
        if (_regionOfTopic.Remove(topic, out ulong region))
        {
            _topicsOfRegion[region]--;
        }
    }
}
