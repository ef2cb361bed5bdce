using QuickSilver.Endpoints;
using QuickSilver.Membership.Views;
using QuickSilver.Topics;
using QuickSilver.Topics.Subscribers;

namespace QuickSilver.Nodes;

// The open topics of a node. Core thread only, except Count.
internal sealed class NodeTopics
{
    // Null until the first topic: most idle nodes have none.
    private Dictionary<ulong, TopicCore>? _byId;
    // Of the topics whose subscribers the application wants to know. Null until the first.
    private List<SubscriberInterest>? _followed;
    private int _count;

    // In the order of opening, so that an action on all topics has an order that does not depend on a hash.
    public List<TopicCore> Ordered { get; } = [];

    /// <summary>From any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The open topic of this name; null if it is not open.</summary>
    /// <exception cref="ContractMismatchException">The open topic of this id has another name.</exception>
    public TopicCore? Find(string name, ulong id)
    {
        if (_byId is null || !_byId.TryGetValue(id, out var topic))
        {
            return null;
        }

        return topic.Name == name ? topic : throw ContractMismatchException.SameHash(name, topic.Name);
    }

    public TopicCore? Find(ulong id) => _byId?.GetValueOrDefault(id);

    public string? NameOf(ulong id) => Find(id)?.Name;

    public void Add(TopicCore topic)
    {
        (_byId ??= []).Add(topic.Id, topic);
        Ordered.Add(topic);
        Volatile.Write(ref _count, Ordered.Count);
    }

    public void Remove(TopicCore topic)
    {
        _byId!.Remove(topic.Id);
        Ordered.Remove(topic);
        Volatile.Write(ref _count, Ordered.Count);
    }

    public void Follow(SubscriberInterest interest) => (_followed ??= []).Add(interest);

    public void Unfollow(SubscriberInterest interest) => _followed?.Remove(interest);

    public List<TopicEndpoint> OpenEndpoints() => [.. Ordered.SelectMany(static topic => topic.Endpoints)];

    public void OnConfiguration(ConfigurationChange change)
    {
        foreach (var view in change.Topics)
        {
            Find(view.TopicId)?.OnView(view);
        }

        foreach (var interest in _followed ?? [])
        {
            interest.Refresh();
        }
    }

    public void OnNodeFailed(Exception reason)
    {
        foreach (var topic in Ordered.ToArray())
        {
            topic.OnNodeFailed(reason);
        }
    }
}
