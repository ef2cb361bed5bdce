using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The views that a node holds from the service before this one, as the node reports them, and by which of them it gets each topic.
internal sealed class HeldViews
{
    private readonly Dictionary<ulong, HeldView> _views = [];
    private readonly Dictionary<ulong, ulong> _regionOfTopic = [];
    private readonly Dictionary<ulong, int> _topicsOfRegion = [];

    private HeldViews()
    {
    }

    /// <summary>What a registration reports; null: nothing.</summary>
    /// <param name="topics">The registration.</param>
    /// <param name="known">The last configuration that the node has.</param>
    public static HeldViews? Of(List<SetTopicMessage> topics, long known)
    {
        HeldViews? held = null;
        foreach (var topic in topics)
        {
            if (topic.View is { Number: > 0, Configuration: > 0 } view && view.Configuration <= known && view.RegionId == topic.Region)
            {
                (held ??= new HeldViews())._views.TryAdd(view.RegionId, view);
            }

            if (held is not null && held._views.ContainsKey(topic.Region)
                && held._regionOfTopic.TryAdd(topic.Topic.TopicId, topic.Region))
            {
                held._topicsOfRegion[topic.Region] = held.TopicsOf(topic.Region) + 1;
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
