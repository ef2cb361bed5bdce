using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// Determines what each node gets when regions have changed. The regions of which a node is a member, and those of the topics to which it
// may publish, are visible to it, and it gets every view of these. If the node or its topic leaves a region, the node gets the region's
// view once more. A node that has a topic open gets the topic's view when the topic's regions or subscriptions have changed. If a
// subscriber of one topic enters or leaves a region, the region stays the same for all other topics that it carries, which may be
// thousands, so these are not sent again.
internal sealed class ViewDistribution
{
    private readonly List<MappedTopic> _touched = [];
    // The views of the topic that is being distributed: for nodes that subscribe, nodes that may publish, and nodes that may do both.
    private readonly TopicView?[] _views = new TopicView?[4];

    /// <summary>The topics whose regions or subscribers changed in the last configuration.</summary>
    public List<MappedTopic> Touched => _touched;

    public void Run(
        List<Region> changed, List<MappedTopic> subscriptions, List<Opener> fresh, long configuration, TopicAddresses addresses)
    {
        _touched.Clear();
        foreach (var region in changed)
        {
            Remap(region, configuration);
        }

        foreach (var topic in subscriptions)
        {
            Touch(topic, configuration);
        }

        var regions = RegionList.None;
        foreach (var topic in _touched)
        {
            topic.RemakeRegions(regions);
            regions = topic.Regions;
        }

        addresses.Run(_touched, configuration, topic => Touch(topic, configuration));
        foreach (var topic in _touched)
        {
            topic.RenewView(configuration);
            Array.Clear(_views);
            var address = addresses.Of(topic);
            foreach (var opener in topic.Openers)
            {
                Send(opener, address);
            }
        }

        // These topics have not changed, except that this node opened them or may now publish.
        foreach (var opener in fresh)
        {
            bool isNews = opener.IsFresh || (opener.Publishes && !opener.IsRouted);
            if (isNews && opener.IsOpen)
            {
                if (!opener.Topic.HasView)
                {
                    opener.Topic.RenewView(configuration);
                }

                Array.Clear(_views);
                Send(opener, addresses.Of(opener.Topic));
            }
        }

        foreach (var region in changed)
        {
            SendNewView(region);
            region.EndChange();
        }
    }

    /// <summary>Called when the configuration is made.</summary>
    public void EndChange()
    {
        _touched.ForEach(static topic => topic.EndChange());
        _touched.Empty();
        Array.Clear(_views);
    }

    // Both lists of topics are in the order of their ids.
    private void Remap(Region region, long configuration)
    {
        var before = region.IsNew ? [] : region.TopicsBefore ?? region.Topics;
        var now = region.Members.Count == 0 ? [] : region.Topics;
        if (ReferenceEquals(before, now))
        {
            return;
        }

        int old = 0, current = 0;
        while (old < before.Length || current < now.Length)
        {
            int order = old == before.Length ? 1 : current == now.Length ? -1 : before[old].Id.CompareTo(now[current].Id);
            if (order == 0)
            {
                old++;
                current++;
            }
            else if (order < 0)
            {
                Touch(before[old], configuration).Lose(region);
                old++;
            }
            else
            {
                Touch(now[current], configuration).Gain(region);
                current++;
            }
        }
    }

    private MappedTopic Touch(MappedTopic topic, long configuration)
    {
        if (topic.Touch(configuration))
        {
            _touched.Add(topic);
        }

        return topic;
    }

    private void Send(Opener opener, TopicAddress? address)
    {
        var topic = opener.Topic;
        var visible = opener.Node.VisibleRegions;
        if (opener.Publishes && !opener.IsRouted)
        {
            opener.IsRouted = true;
            foreach (var region in topic.Regions.All)
            {
                visible.AddReason(region);
            }
        }
        else if (opener.IsRouted)
        {
            // The new regions come first: one that another topic leaves must not become invisible in between.
            foreach (var region in topic.Gained ?? [])
            {
                visible.AddReason(region);
            }

            foreach (var region in topic.Lost ?? [])
            {
                visible.Send(region);
                opener.Node.RemoveReasonFor(region);
            }
        }

        opener.IsFresh = false;
        opener.SentSubscribed = opener.Subscribes;
        ref var view = ref _views[(opener.Subscribes ? 1 : 0) + (opener.IsRouted ? 2 : 0)];
        visible.Send(view ??= topic.ViewFor(opener.Subscribes, opener.IsRouted, address));
    }

    private static void SendNewView(Region region)
    {
        foreach (var place in region.Arriving)
        {
            place.Node.VisibleRegions.AddReason(region);
        }

        foreach (var member in region.Members)
        {
            member.Node.VisibleRegions.Send(region);
        }

        // The openers of the topics of a dissolved region got their views when the topics lost it.
        foreach (var topic in region.Members.Count == 0 ? [] : region.Topics)
        {
            foreach (var opener in topic.Openers)
            {
                if (opener.IsRouted)
                {
                    opener.Node.VisibleRegions.Send(region);
                }
            }
        }

        foreach (var place in region.Leaving)
        {
            place.Node.VisibleRegions.Send(region);
            place.Node.RemoveReasonFor(region);
        }

        // This comes last, because a region may lose one reason and gain the next.
        foreach (var node in region.AwaitingViewEnd)
        {
            node.VisibleRegions.OnViewEnded(region);
        }

        region.AwaitingViewEnd.Empty();
    }
}
