using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A topic as the region map sees it: who has it open, the set that it is in, and the regions of that set whose members, all
// together, are its subscribers.
internal sealed class MappedTopic(ulong id)
{
    // What those who subscribe, or may publish, or both, are told.
    private readonly TopicView?[] _views = new TopicView?[4];

    public ulong Id { get; } = id;

    // Who is told of it. What is done for one opener does not touch another, so the order of this table has no effect.
    public Dictionary<NodeKey, Opener> Openers { get; } = [];

    public int Subscribers { get; set; }

    /// <summary>The number of its set; -1 while nobody subscribes.</summary>
    public int Set { get; set; } = -1;

    // What it counts for in its set: the subscribers that it had when it was put there, or was weighed again.
    public long Weight { get; set; }

    // Subscriptions that came or went since it was given its set, or was weighed again.
    public long ChangesSincePlaced { get; set; }

    // A subscription came or went since the last configuration.
    public bool IsChanged { get; set; }

    /// <summary>In ascending order of their ids; replaced, never changed.</summary>
    public Region[] Regions { get; private set; } = [];

    // What the configuration that is being made adds to its regions, and takes away.
    public List<Region> Gained { get; } = [];
    public List<Region> Lost { get; } = [];

    public long TouchedAt { get; private set; }

    public bool HasView => _views[0] is not null;

    /// <summary>True the first time in a configuration.</summary>
    public bool Touch(long configuration)
    {
        if (TouchedAt == configuration)
        {
            return false;
        }

        TouchedAt = configuration;
        Gained.Clear();
        Lost.Clear();
        return true;
    }

    /// <summary>Takes in what was gained and lost.</summary>
    public void RemakeRegions()
    {
        if (Gained.Count == 0 && Lost.Count == 0)
        {
            return;
        }

        var lost = new HashSet<Region>(Lost);
        Gained.Sort(static (a, b) => a.Id.CompareTo(b.Id));
        var regions = new Region[Regions.Length - Lost.Count + Gained.Count];
        int at = 0, gained = 0;
        foreach (var region in Regions)
        {
            if (lost.Contains(region))
            {
                continue;
            }

            while (gained < Gained.Count && Gained[gained].Id < region.Id)
            {
                regions[at++] = Gained[gained++];
            }

            regions[at++] = region;
        }

        while (gained < Gained.Count)
        {
            regions[at++] = Gained[gained++];
        }

        Regions = regions;
    }

    public void MakeViews(long configuration)
    {
        var view = new TopicView
        {
            TopicId = Id,
            Configuration = configuration,
            Regions = [.. Regions.Select(region => region.Id)],
            Subscribed = false,
            Routed = false,
            Subscribers = Subscribers,
        };
        Array.Clear(_views);
        _views[0] = view;
    }

    /// <summary>The topic's view as one is told it who has it open so.</summary>
    public TopicView ViewFor(bool subscribed, bool routed) =>
        _views[(subscribed ? 1 : 0) + (routed ? 2 : 0)] ??= _views[0]! with { Subscribed = subscribed, Routed = routed };
}
