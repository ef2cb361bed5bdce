namespace QuickSilver.Membership.Regions;

// Works out who learns what when regions have changed. Everybody who has a topic open learns of its new regions, and of
// every region that a topic of theirs lies in or lay in; the members and former members of a region are among these or
// are told besides.
internal sealed class ViewDistribution
{
    private readonly List<MappedTopic> _touched = [];

    /// <summary>The topics whose regions or subscribers changed in the last configuration.</summary>
    public List<MappedTopic> Touched => _touched;

    public void Run(List<Region> changed, List<Opener> fresh, long configuration)
    {
        _touched.Clear();
        foreach (var region in changed)
        {
            RemapTopics(region, configuration);
        }

        foreach (var topic in _touched)
        {
            topic.MakeViews(configuration);
            foreach (var opener in topic.Openers.Values)
            {
                Tell(opener);
            }
        }

        // Nothing changed about these topics but that this node opened them, to publish.
        foreach (var opener in fresh)
        {
            if (opener.IsFresh && opener.Topic.Openers.GetValueOrDefault(opener.Node.Key) == opener)
            {
                if (opener.Topic.PublisherView is null)
                {
                    opener.Topic.MakeViews(configuration);
                }

                Tell(opener);
            }
        }

        foreach (var region in changed)
        {
            foreach (var node in region.Leaving)
            {
                if (!node.IsRemoved)
                {
                    node.Horizon.TellLast(region);
                }
            }

            region.EndChange();
        }
    }

    private void RemapTopics(Region region, long configuration)
    {
        if (region.TopicsBefore is { } before)
        {
            foreach (var topic in before)
            {
                Touch(topic, configuration);
                if (!region.Contains(topic.Id))
                {
                    topic.RemoveRegion(region);
                }
            }
        }

        foreach (var topic in region.Topics)
        {
            Touch(topic, configuration);
            bool isMapped = Array.IndexOf(topic.Regions, region) >= 0;
            if (region.Members.Count == 0)
            {
                topic.RemoveRegion(region);
            }
            else if (!isMapped)
            {
                topic.AddRegion(region);
            }
        }
    }

    private void Touch(MappedTopic topic, long configuration)
    {
        if (topic.Touch(configuration))
        {
            _touched.Add(topic);
        }
    }

    private static void Tell(Opener opener)
    {
        var topic = opener.Topic;
        var horizon = opener.Node.Horizon;
        if (opener.IsFresh)
        {
            foreach (var region in topic.Regions)
            {
                horizon.ComeIntoSight(region);
            }
        }
        else
        {
            Follow(topic, horizon);
        }

        opener.IsFresh = false;
        opener.ToldSubscribed = opener.Subscribes;
        horizon.NewTopics.Add(opener.Subscribes ? topic.SubscriberView! : topic.PublisherView!);
    }

    // The new regions first: one that the topic stays in must not go out of sight in between.
    private static void Follow(MappedTopic topic, Horizon horizon)
    {
        if (ReferenceEquals(topic.Before, topic.Regions))
        {
            foreach (var region in topic.Regions)
            {
                horizon.Tell(region);
            }

            return;
        }

        foreach (var region in topic.Regions)
        {
            horizon.ComeIntoSight(region);
        }

        foreach (var region in topic.Before)
        {
            horizon.Tell(region);
            horizon.GoOutOfSight(region);
        }
    }
}
