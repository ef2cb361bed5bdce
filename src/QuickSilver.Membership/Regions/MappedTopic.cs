using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A topic as the region map sees it: who has it open, and the regions whose members, all together, are its subscribers.
internal sealed class MappedTopic(ulong id)
{
    public ulong Id { get; } = id;

    // Who is told of it. What is done for one opener does not touch another, so the order of this table has no effect.
    public Dictionary<NodeKey, Opener> Openers { get; } = [];

    public int Subscribers { get; set; }

    /// <summary>In ascending order of their ids; replaced, never changed, so a view may be compared with the one before.</summary>
    public Region[] Regions { get; private set; } = [];

    // The regions before the configuration that touched it last.
    public Region[] Before { get; private set; } = [];

    public long TouchedAt { get; private set; }

    public TopicView? SubscriberView { get; private set; }

    public TopicView? PublisherView { get; private set; }

    /// <summary>True the first time in a configuration.</summary>
    public bool Touch(long configuration)
    {
        if (TouchedAt == configuration)
        {
            return false;
        }

        TouchedAt = configuration;
        Before = Regions;
        return true;
    }

    public void AddRegion(Region region)
    {
        var regions = new Region[Regions.Length + 1];
        int at = 0;
        while (at < Regions.Length && Regions[at].Id < region.Id)
        {
            regions[at] = Regions[at];
            at++;
        }

        regions[at] = region;
        Array.Copy(Regions, at, regions, at + 1, Regions.Length - at);
        Regions = regions;
    }

    public void RemoveRegion(Region region) => Regions = Array.FindAll(Regions, other => other != region);

    public void MakeViews(long configuration)
    {
        var view = new TopicView
        {
            TopicId = Id,
            Configuration = configuration,
            Regions = [.. Regions.Select(region => region.Id)],
            Subscribed = true,
            Subscribers = Subscribers,
        };
        SubscriberView = view;
        PublisherView = view with { Subscribed = false };
    }
}
