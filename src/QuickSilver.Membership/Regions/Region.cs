using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The nodes that subscribe to exactly the same topics of one set. If all its members make the same change of topics, the region keeps its
// id and address. Every change gives it a view with a new number.
internal sealed class Region(int set, TopicSetKey setKey, MappedTopic[] topics)
{
    public int Set { get; } = set;

    public ulong Id { get; private set; }

    public uint Number { get; private set; }

    /// <summary>Null if packets are sent to each member separately.</summary>
    public IPEndPoint? Group { get; set; }

    public TopicSetKey SetKey { get; private set; } = setKey;

    /// <summary>In ascending order of their ids.</summary>
    public MappedTopic[] Topics { get; private set; } = topics;

    /// <summary>Whether it is the region of a pinned topic.</summary>
    public bool IsPinned => Topics is [{ IsPinned: true }];

    /// <summary>In ascending order of their keys.</summary>
    public List<Place> Members { get; } = [];

    public RegionView? View { get; private set; }

    /// <summary>The nodes that lost their last reason to see the region during this view. They get the view's end.</summary>
    public List<MappedNode> AwaitingViewEnd { get; } = [];

    // While a configuration is made: the nodes that arrive and leave, and the topics before the change.
    public bool IsChanging { get; private set; }
    public List<Place> Arriving { get; } = [];
    public List<Place> Leaving { get; } = [];
    public MappedTopic[]? TopicsBefore { get; private set; }

    public bool IsForming { get; private set; } = true;

    // Whether no configuration contains it yet.
    public bool IsNew { get; private set; } = true;

    /// <summary>
    /// Whether its view, with its id, is from the earlier service. The region ends with this view, and its members continue in a region of
    /// this service: another service that was cut off may have continued the numbers of the same view.
    /// </summary>
    public bool IsAdopted { get; private set; }

    /// <summary>Whether another region has taken over its group.</summary>
    public bool IsSucceeded { get; private set; }

    public bool Contains(ulong topicId)
    {
        int low = 0, high = Topics.Length - 1;
        while (low <= high)
        {
            int middle = (low + high) >>> 1;
            if (Topics[middle].Id == topicId)
            {
                return true;
            }

            if (Topics[middle].Id < topicId)
            {
                low = middle + 1;
            }
            else
            {
                high = middle - 1;
            }
        }

        return false;
    }

    public bool HasSameTopics(TopicSet set)
    {
        if (set.Count != Topics.Length)
        {
            return false;
        }

        foreach (var topic in Topics)
        {
            if (!set.Contains(topic.Id))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>True the first time in a configuration.</summary>
    public bool BeginChange()
    {
        bool first = !IsChanging;
        IsChanging = true;
        return first;
    }

    public void Establish(ulong id)
    {
        Id = id;
        IsForming = false;
    }

    /// <summary>Continues with a view of the service before this one.</summary>
    public void Adopt(RegionView view)
    {
        Establish(view.RegionId);
        View = view;
        Number = view.Number;
        Group = view.Group;
        IsAdopted = true;
    }

    /// <summary>Another region has its topics, and the group with it; this one ends with its members.</summary>
    public void GiveGroupTo(Region heir)
    {
        heir.Group = Group;
        IsSucceeded = true;
    }

    /// <summary>Replaces a region that was forming: takes over its topics.</summary>
    public void TakeOver(Region forming)
    {
        TopicsBefore = Topics;
        Topics = forming.Topics;
        SetKey = forming.SetKey;
    }

    /// <summary>Applies the arrivals and departures to the members.</summary>
    public void MakeMembers()
    {
        Members.RemoveAll(member => member.Region != this);
        Members.AddRange(Arriving);
        Members.Sort((a, b) => a.Node.Key.CompareTo(b.Node.Key));
    }

    public void MakeView(long configuration, RepairRules repair, RegionKeys? keys = null)
    {
        Number = IsAdopted ? RegionView.EndOfAdopted : Number + 1;
        View = new RegionView
        {
            RegionId = Id,
            Number = Number,
            Configuration = configuration,
            Group = Group,
            Members = [.. Members.Select(member => member.Node.Key)],
            Repair = repair,
            Since = SinceOf(Members, configuration),
            Set = IsApart ? 0 : Set,
            Key = keys?.OfView(Id, Number, configuration),
        };
    }

    /// <summary>The view of a region that is forming, if it is this one of the service before.</summary>
    public RegionView ViewAs(HeldView held, long configuration, RepairRules repair)
    {
        var members = Arriving.OrderBy(static place => place.Node.Key).ToList();
        return new RegionView
        {
            RegionId = held.RegionId,
            Number = held.Number,
            Configuration = held.Configuration,
            Group = held.Group,
            Members = [.. members.Select(static place => place.Node.Key)],
            Repair = repair,
            Since = SinceOf(members, configuration),
            Set = IsApart ? 0 : Set,
            Key = held.Key,
        };
    }

    private bool IsApart => Topics is [{ IsApart: true }, ..];

    private ImmutableArray<long> SinceOf(List<Place> members, long configuration) =>
        IsPinned ? [.. members.Select(member => Topics[0].SinceOf(member.Node, configuration))] : [];

    public void EndChange()
    {
        IsNew = false;
        IsChanging = false;
        Arriving.Clear();
        Leaving.Clear();
        TopicsBefore = null;
    }
}
