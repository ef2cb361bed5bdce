using System.Collections.Immutable;
using System.Runtime.InteropServices;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A topic in the region map: the nodes that have it open, the set that contains it, and the regions of that set whose members together are
// its subscribers.
internal sealed class MappedTopic(ulong id)
{
    private Opener[] _openers = [];
    private int _openerCount;

    // The contents of its last view in addition to the regions.
    private long _viewedAt;
    private int _viewedSubscribers;

    // For a pinned topic: the configuration since which each node subscribes. Null while there is none.
    private Dictionary<MappedNode, long>? _since;

    public ulong Id { get; } = id;

    // The nodes that get the topic's views. Actions for one opener do not affect another, so the order of this table has no effect.
    public ReadOnlySpan<Opener> Openers => _openers.AsSpan(0, _openerCount);

    public int Subscribers { get; set; }

    /// <summary>The identities that may publish; default: everybody may.</summary>
    public ImmutableArray<ulong> Publishers { get; set; }

    /// <summary>Whether the topic shares its set with no other topic.</summary>
    public bool IsPinned { get; set; }

    /// <summary>The topic shares its set with topics of the same enclosure only; 0: it has none.</summary>
    public ulong Enclosure { get; set; }

    /// <summary>Whether its set is not one of those that all topics share.</summary>
    public bool IsApart => IsPinned || Enclosure != 0;

    /// <summary>The number of its set; -1 while it has no subscribers.</summary>
    public int Set { get; set; } = -1;

    // Its weight in its set: the number of subscribers that it had when it was put there or was last weighed.
    public int Weight { get; set; }

    // The number of subscriptions that were added or removed since the topic was put into its set or was last weighed.
    public int ChangesSincePlaced { get; set; }

    // Whether a subscription was added or removed since the last configuration.
    public bool IsChanged { get; set; }

    /// <summary>A list that is shared with other topics in the same regions.</summary>
    public RegionList Regions { get; private set; } = RegionList.None;

    // The regions that the configuration that is being made adds and removes; null if there are none.
    public List<Region>? Gained { get; private set; }
    public List<Region>? Lost { get; private set; }

    public long TouchedAt { get; private set; }

    public bool HasView => _viewedAt != 0;

    /// <summary>How often a message is sent without an address.</summary>
    public int Sends
    {
        get
        {
            int sends = 0;
            foreach (var region in Regions.All)
            {
                sends += region.Group is null ? region.Members.Count : 1;
            }

            return sends;
        }
    }

    /// <summary>The set in which it was under the service before, as most of its subscribers report; -1: none reports one.</summary>
    public int SetBefore(int sets)
    {
        Span<int> votes = stackalloc int[sets];
        votes.Clear();
        int best = -1;
        foreach (var opener in Openers)
        {
            if (opener.Subscribes && opener.Node.Held?.ViewOf(Id) is { } held && held.Set < sets)
            {
                votes[held.Set]++;
            }
        }

        for (int set = 0; set < sets; set++)
        {
            if (votes[set] > (best < 0 ? 0 : votes[best]))
            {
                best = set;
            }
        }

        return best;
    }

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

    /// <summary>The configuration since which a node subscribes to the pinned topic: the given one if the node is new.</summary>
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

    /// <summary>
    /// Applies the regions gained and lost. <paramref name="likely"/> is the new list of another topic, which is used if it is the same.
    /// </summary>
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

    /// <summary>Called when the topic has another view from this configuration on.</summary>
    public void RenewView(long configuration)
    {
        _viewedAt = configuration;
        _viewedSubscribers = Subscribers;
    }

    /// <summary>The topic's view for nodes that have this access to it.</summary>
    public TopicView ViewFor(bool subscribed, bool routed, TopicAddress? address) => new()
    {
        TopicId = Id,
        Configuration = _viewedAt,
        Regions = Regions.Ids,
        Subscribed = subscribed,
        Routed = routed,
        Subscribers = _viewedSubscribers,
        Address = address,
        Publishers = Publishers,
    };

    /// <summary>Called when the configuration is made.</summary>
    public void EndChange()
    {
        Gained = null;
        Lost = null;
    }
}

// The regions of a topic, in ascending order of their ids; immutable. Thousands of topics may have the same regions.
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
