using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The map from topics to regions: changes are collected, and one call makes all of them into the next configuration.
//
// Every topic's subscribers are exactly the members of its regions, each in one of them; a node lies in one region at
// most, that of its topic set; nodes that only publish lie in none. What a node is told, added up over all
// configurations, is what it would be told if it came now. Views of a region only grow in number.
internal sealed class RegionMap(AddressPlan addresses, uint firstRegion, Func<ulong, TopicSetKey>? keyOfTopic = null)
{
    private readonly Func<ulong, TopicSetKey> _keyOfTopic = keyOfTopic ?? TopicSetKey.OfTopic;
    private readonly RegionReform _reform = new(addresses, firstRegion);
    private readonly ViewDistribution _distribution = new();
    private readonly Dictionary<NodeKey, MappedNode> _nodes = [];
    private readonly Dictionary<ulong, MappedTopic> _topics = [];
    private readonly List<MappedNode> _moved = [];
    private readonly List<Opener> _fresh = [];
    private readonly List<Region> _outworn = [];

    public bool HasChanges => _moved.Count > 0 || _fresh.Count > 0;

    public int RegionCount => _reform.Regions.Count;

    public int TopicCount => _topics.Count;

    public void AddNode(NodeKey key, bool hasReturned = false) =>
        _nodes.Add(key, new MappedNode(key, _keyOfTopic) { HasReturned = hasReturned });

    public void RemoveNode(NodeKey key)
    {
        if (!_nodes.Remove(key, out var node))
        {
            return;
        }

        foreach (var opener in node.Open.Values)
        {
            Forget(opener);
        }

        node.Open.Clear();
        node.IsRemoved = true;
        MarkMoved(node);
    }

    /// <summary>The node's access to a topic from the next configuration on; None closes it.</summary>
    public void SetRole(NodeKey key, ulong topicId, TopicRole role)
    {
        var node = _nodes[key];
        if (role == TopicRole.None)
        {
            Close(node, topicId);
            return;
        }

        if (!node.Open.TryGetValue(topicId, out var opener))
        {
            opener = Open(node, topicId);
        }

        bool subscribes = role.HasFlag(TopicRole.Subscribe);
        if (subscribes != opener.Subscribes)
        {
            SetSubscribes(opener, subscribes);
        }
    }

    /// <summary>How many members the node's region has now; 0 when it is in none.</summary>
    public int RegionSizeOf(NodeKey key) => _nodes.TryGetValue(key, out var node) ? node.Region?.Members.Count ?? 0 : 0;

    /// <summary>Makes the next configuration; then <see cref="NewsOf"/> says what each node is told.</summary>
    public void Apply(long configuration)
    {
        foreach (var node in _nodes.Values)
        {
            node.Horizon.ClearNews();
            node.AdmittedAt = node.AdmittedAt == 0 ? configuration : node.AdmittedAt;
        }

        _moved.Sort((a, b) => a.Key.CompareTo(b.Key));
        CollectOutworn();
        _reform.Run(_moved, _outworn, _topics, configuration);
        _distribution.Run(_reform.Changed, _fresh, configuration);
        foreach (var node in _nodes.Values)
        {
            node.Horizon.ForgetUnseen();
        }

        foreach (var topic in _distribution.Touched)
        {
            ForgetIfUnused(topic);
        }

        foreach (var node in _moved)
        {
            node.IsMoved = false;
            node.IsRenewed = false;
            node.Previous = null;
        }

        _moved.Clear();
        _fresh.Clear();
    }

    /// <summary>What the last configuration tells this node; valid until the next one.</summary>
    public (List<RegionView> Regions, List<TopicView> Topics) NewsOf(NodeKey key)
    {
        var horizon = _nodes[key].Horizon;
        return (horizon.NewRegions, horizon.NewTopics);
    }

    /// <summary>All that the node was told up to the last configuration and that still stands, in ascending order of ids.</summary>
    public (List<RegionView> Regions, List<TopicView> Topics) SnapshotOf(NodeKey key)
    {
        var node = _nodes[key];
        List<RegionView> regions = [.. node.Horizon.ToSorted().Select(id => _reform.Regions[id].View!)];
        List<TopicView> topics =
        [
            .. node.Open.Values
                .Where(opener => !opener.IsFresh)
                .OrderBy(opener => opener.Topic.Id)
                .Select(opener => opener.ToldSubscribed ? opener.Topic.SubscriberView! : opener.Topic.PublisherView!),
        ];
        return (regions, topics);
    }

    // Packets are numbered from 1 in each view, and its members have given up who went away: one that has returned never
    // sends in a view from before its return.
    private void CollectOutworn()
    {
        _outworn.Clear();
        foreach (var opener in _fresh)
        {
            var node = opener.Node;
            if (node.HasReturned && !node.IsRemoved)
            {
                _outworn.AddRange(opener.Topic.Regions.Where(region => region.View!.Configuration < node.AdmittedAt));
            }
        }
    }

    private Opener Open(MappedNode node, ulong topicId)
    {
        if (!_topics.TryGetValue(topicId, out var topic))
        {
            topic = new MappedTopic(topicId);
            _topics.Add(topicId, topic);
        }

        var opener = new Opener(node, topic);
        node.Open.Add(topicId, opener);
        topic.Openers.Add(node.Key, opener);
        _fresh.Add(opener);
        return opener;
    }

    private void Close(MappedNode node, ulong topicId)
    {
        if (!node.Open.Remove(topicId, out var opener))
        {
            return;
        }

        if (opener.Subscribes)
        {
            SetSubscribes(opener, false);
        }

        if (!opener.IsFresh)
        {
            foreach (var region in opener.Topic.Regions)
            {
                node.Horizon.GoOutOfSight(region);
            }

            node.Horizon.ForgetUnseen();
        }

        opener.Topic.Openers.Remove(node.Key);
        ForgetIfUnused(opener.Topic);
    }

    private void SetSubscribes(Opener opener, bool subscribes)
    {
        var node = opener.Node;
        ulong topicId = opener.Topic.Id;
        opener.Subscribes = subscribes;
        opener.Topic.Subscribers += subscribes ? 1 : -1;
        if (subscribes)
        {
            node.Wanted.Add(topicId);
            node.IsRenewed |= node.Region is { } region && region.Contains(topicId);
        }
        else
        {
            node.Wanted.Remove(topicId);
        }

        MarkMoved(node);
    }

    private void Forget(Opener opener)
    {
        opener.Topic.Openers.Remove(opener.Node.Key);
        if (opener.Subscribes)
        {
            opener.Topic.Subscribers--;
        }

        ForgetIfUnused(opener.Topic);
    }

    private void ForgetIfUnused(MappedTopic topic)
    {
        if (topic.Openers.Count == 0 && topic.Regions.Length == 0)
        {
            _topics.Remove(topic.Id);
        }
    }

    private void MarkMoved(MappedNode node)
    {
        if (!node.IsMoved)
        {
            node.IsMoved = true;
            _moved.Add(node);
        }
    }
}
