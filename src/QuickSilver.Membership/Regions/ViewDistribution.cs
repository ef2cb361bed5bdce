using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// Works out who learns what when regions have changed. A node has in sight the regions that it is a member of and those of
// the topics that it may publish to, and learns of every view of these; who leaves a region, or its topic does, learns of its
// view once more. Of a topic everybody who has it open is told when its regions or its subscriptions changed: a region that
// only another topic's subscriber enters or leaves is the same for all the topics that it carries, and may carry thousands.
internal sealed class ViewDistribution
{
    private readonly List<MappedTopic> _touched = [];
    // Of the topic that is being told: its view as those are told it who subscribe, or may publish, or both.
    private readonly TopicView?[] _views = new TopicView?[4];

    /// <summary>The topics whose regions or subscribers changed in the last configuration.</summary>
    public List<MappedTopic> Touched => _touched;

    public void Run(List<Region> changed, List<MappedTopic> subscriptions, List<Opener> fresh, long configuration)
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
            topic.RenewView(configuration);
            Array.Clear(_views);
            foreach (var opener in topic.Openers)
            {
                Tell(opener);
            }
        }

        // Nothing changed about these topics but that this node opened them, or is to publish.
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
                Tell(opener);
            }
        }

        foreach (var region in changed)
        {
            TellNewView(region);
            region.EndChange();
        }
    }

    /// <summary>The configuration is made.</summary>
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

    private void Tell(Opener opener)
    {
        var topic = opener.Topic;
        var horizon = opener.Node.Horizon;
        if (opener.Publishes && !opener.IsRouted)
        {
            opener.IsRouted = true;
            foreach (var region in topic.Regions.All)
            {
                horizon.ComeIntoSight(region);
            }
        }
        else if (opener.IsRouted)
        {
            // The new regions first: one that another topic leaves must not go out of sight in between.
            foreach (var region in topic.Gained ?? [])
            {
                horizon.ComeIntoSight(region);
            }

            foreach (var region in topic.Lost ?? [])
            {
                horizon.Tell(region);
                opener.Node.LoseSightOf(region);
            }
        }

        opener.IsFresh = false;
        opener.ToldSubscribed = opener.Subscribes;
        ref var view = ref _views[(opener.Subscribes ? 1 : 0) + (opener.IsRouted ? 2 : 0)];
        horizon.News.Topics.Add(view ??= topic.ViewFor(opener.Subscribes, opener.IsRouted));
    }

    private static void TellNewView(Region region)
    {
        foreach (var place in region.Arriving)
        {
            place.Node.Horizon.ComeIntoSight(region);
        }

        foreach (var member in region.Members)
        {
            member.Node.Horizon.Tell(region);
        }

        // Of a region that has dissolved its topics' openers were told when it was lost.
        foreach (var topic in region.Members.Count == 0 ? [] : region.Topics)
        {
            foreach (var opener in topic.Openers)
            {
                if (opener.IsRouted)
                {
                    opener.Node.Horizon.Tell(region);
                }
            }
        }

        foreach (var place in region.Leaving)
        {
            place.Node.Horizon.Tell(region);
            place.Node.LoseSightOf(region);
        }

        // The last: a region may lose one reason and gain the next.
        foreach (var node in region.Lingering)
        {
            node.Horizon.EndLingering(region);
        }

        region.Lingering.Empty();
    }
}
