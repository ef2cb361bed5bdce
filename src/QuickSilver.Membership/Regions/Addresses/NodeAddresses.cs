using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions.Addresses;

// The addresses of topics that one node uses. The one with the least need is remembered, because each candidate for an address asks for it.
internal sealed class NodeAddresses
{
    private readonly List<HeldAddress> _held = [];
    private HeldAddress? _least;

    public int Count => _held.Count;

    /// <summary>The address with the least need; null if there is none.</summary>
    public HeldAddress? Least => _least ??= LeastOf(_held);

    public static HeldAddress? LeastOf(List<HeldAddress> held)
    {
        HeldAddress? least = null;
        foreach (var one in held)
        {
            if (least is null || HeldAddress.Compare(one.Topic.Id, one.Need, least.Topic.Id, least.Need) < 0)
            {
                least = one;
            }
        }

        return least;
    }

    /// <summary>Adds an address whose need does not change until it is removed.</summary>
    public void Add(HeldAddress address)
    {
        _held.Add(address);
        _least = null;
    }

    public void Remove(HeldAddress address)
    {
        _held.Remove(address);
        _least = null;
    }
}

// The address of a topic, while it has one.
internal sealed class HeldAddress(MappedTopic topic, TopicAddress announced)
{
    public MappedTopic Topic { get; } = topic;

    public TopicAddress Announced { get; } = announced;

    /// <summary>How much it saves.</summary>
    public double Need { get; set; }

    /// <summary>The nodes that use it.</summary>
    public List<MappedNode> Nodes { get; } = [];

    /// <summary>By need, and in an order that has nothing to do with what the topics are where the need is the same.</summary>
    public static int Compare(ulong one, double need, ulong other, double otherNeed)
    {
        int order = need.CompareTo(otherNeed);
        return order != 0 ? order : TopicSetKey.OfTopic(one).High.CompareTo(TopicSetKey.OfTopic(other).High);
    }
}
