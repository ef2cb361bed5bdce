using System.Collections.Immutable;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A topic as the region map sees it: who has it open, the set that it is in, and the regions of that set whose members, all
// together, are its subscribers.
internal sealed class MappedTopic(ulong id)
{
    private Opener[] _openers = [];
    private int _openerCount;

    // What its last view says beside its regions.
    private long _viewedAt;
    private int _viewedSubscribers;

    // Of a pinned topic: since which configuration who subscribes. Null while there is nobody.
    private Dictionary<MappedNode, long>? _since;

    public ulong Id { get; } = id;

    // Who is told of it. What is done for one opener does not touch another, so the order of this table has no effect.
    public ReadOnlySpan<Opener> Openers => _openers.AsSpan(0, _openerCount);

    public int Subscribers { get; set; }

    /// <summary>It shares its set with no other topic.</summary>
    public bool IsPinned { get; set; }

    /// <summary>The number of its set; -1 while nobody subscribes.</summary>
    public int Set { get; set; } = -1;

    // What it counts for in its set: the subscribers that it had when it was put there, or was weighed again.
    public int Weight { get; set; }

    // Subscriptions that came or went since it was given its set, or was weighed again.
    public int ChangesSincePlaced { get; set; }

    // A subscription came or went since the last configuration.
    public bool IsChanged { get; set; }

    /// <summary>Shared with other topics that lie in the same ones.</summary>
    public RegionList Regions { get; private set; } = RegionList.None;

    // What the configuration that is being made adds to its regions, and takes away; null when that is nothing.
    public List<Region>? Gained { get; private set; }
    public List<Region>? Lost { get; private set; }

    public long TouchedAt { get; private set; }

    public bool HasView => _viewedAt != 0;

    public void Add(Opener opener)
    {
        if (_openerCount == _openers.Length)
        {
            Array.Resize(ref _openers, Math.Max(1, _openerCount * 2));
        }

        opener.Index = _openerCount;
        _openers[_openerCount++] = opener;
    }

    public void Remove(Opener opener)
    {
        var last = _openers[--_openerCount];
        _openers[opener.Index] = last;
        last.Index = opener.Index;
        opener.Index = -1;
        _openers[_openerCount] = null!;
        if (_openerCount <= _openers.Length / 4)
        {
            Array.Resize(ref _openers, _openerCount);
        }
    }

    public void SetSince(MappedNode node, long configuration) => (_since ??= [])[node] = configuration;

    public void ForgetSince(MappedNode node) => _since?.Remove(node);

    /// <summary>Since which configuration a node subscribes to the pinned topic: since this one when it is new.</summary>
    public long SinceOf(MappedNode node, long configuration)
    {
        ref long since = ref CollectionsMarshal.GetValueRefOrAddDefault(_since ??= [], node, out _);
        return since = since == 0 ? configuration : since;
    }

    /// <summary>True the first time in a configuration.</summary>
    public bool Touch(long configuration)
    {
        if (TouchedAt == configuration)
        {
            return false;
        }

        TouchedAt = configuration;
        return true;
    }

    public void Gain(Region region) => (Gained ??= new List<Region>(1)).Add(region);

    public void Lose(Region region) => (Lost ??= new List<Region>(1)).Add(region);

    /// <summary>Takes in what was gained and lost; <paramref name="likely"/> is what another topic's regions became.</summary>
    public void RemakeRegions(RegionList likely)
    {
        if (Gained is null && Lost is null)
        {
            return;
        }

        var lost = Lost is null ? null : new HashSet<Region>(Lost);
        var regions = new List<Region>(Regions.Count + (Gained?.Count ?? 0));
        foreach (var region in Regions.All)
        {
            if (lost?.Contains(region) != true)
            {
                regions.Add(region);
            }
        }

        regions.AddRange(Gained ?? []);
        regions.Sort(static (a, b) => a.Id.CompareTo(b.Id));
        Regions = likely.Holds(regions) ? likely : RegionList.Of(regions);
    }

    /// <summary>From this configuration on it has another view.</summary>
    public void RenewView(long configuration)
    {
        _viewedAt = configuration;
        _viewedSubscribers = Subscribers;
    }

    /// <summary>The topic's view as one is told it who has it open so.</summary>
    public TopicView ViewFor(bool subscribed, bool routed) => new()
    {
        TopicId = Id,
        Configuration = _viewedAt,
        Regions = Regions.Ids,
        Subscribed = subscribed,
        Routed = routed,
        Subscribers = _viewedSubscribers,
    };

    /// <summary>The configuration is made.</summary>
    public void EndChange()
    {
        Gained = null;
        Lost = null;
    }
}

// The regions that a topic lies in, in ascending order of their ids; never changed. Topics by the thousand lie in the same ones.
internal sealed class RegionList
{
    public static readonly RegionList None = new([]);

    private RegionList(ImmutableArray<Region> regions)
    {
        All = regions;
        Ids = [.. regions.Select(region => region.Id)];
    }

    public ImmutableArray<ulong> Ids { get; }

    public ImmutableArray<Region> All { get; }

    public int Count => All.Length;

    public static RegionList Of(List<Region> regions) => regions.Count == 0 ? None : new([.. regions]);

    public bool Holds(List<Region> regions) => CollectionsMarshal.AsSpan(regions).SequenceEqual(All.AsSpan());
}
