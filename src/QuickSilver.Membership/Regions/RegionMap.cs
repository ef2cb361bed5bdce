using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The map from topics to regions: changes are collected, and one call makes the next configuration from all of them.
//
// Topics are partitioned into sets. The subscribers of a topic are exactly the members of its regions. All these regions belong to the
// topic's set, and each subscriber is a member of one of them. A node is a member of at most one region of a set, together with the nodes
// that subscribe to the same topics of that set. Nodes that only publish are members of none. A pinned topic has a set of its own and
// therefore one region, whose members are its subscribers. Topics of one enclosure have a set of their own together. A node has got in all
// configurations together what it would get if it joined now. The view numbers of a region only increase.
internal sealed class RegionMap
{
    private readonly TopicSets _sets;
    private readonly RegionReform _reform;
    private readonly TopicAddresses _topicAddresses;
    private readonly ViewDistribution _distribution = new();
    private readonly Dictionary<NodeKey, MappedNode> _nodes = [];
    private readonly Dictionary<ulong, MappedTopic> _topics = [];
    private readonly List<Opener> _fresh = [];
    private readonly List<Region> _outworn = [];
    // The last region that a place has left, until all superseded views are settled; null: none.
    private Dictionary<Place, Region>? _left;
    // Whether no configuration was made yet.
    private bool _isFirst = true;
    // The regions of which a removed node has the key of a view.
    private readonly SortedSet<ulong> _exposed = [];
    // Topics whose publishers have changed.
    private readonly List<MappedTopic> _restricted = [];

    public RegionMap(
        AddressPlan addresses,
        uint firstRegion,
        TopicSetRules? rules = null,
        Func<ulong, TopicSetKey>? keyOfTopic = null,
        RepairRules? repair = null,
        TopicAddressRules? topicAddresses = null)
    {
        rules ??= new TopicSetRules();
        _sets = new TopicSets(rules, keyOfTopic ?? TopicSetKey.OfTopic);
        _reform = new RegionReform(addresses, firstRegion, rules, repair ?? RepairRules.Default);
        _topicAddresses = new TopicAddresses(addresses, topicAddresses ?? TopicAddressRules.None);
    }

    /// <summary>Makes the keys of views; null: packets are not sealed.</summary>
    public RegionKeys? Keys
    {
        init => _reform.Keys = value;
    }

    public bool HasChanges =>
        _sets.Moved.Count > 0 || _sets.Changed.Count > 0 || _fresh.Count > 0 || _exposed.Count > 0 || _restricted.Count > 0;

    public int RegionCount => _reform.Regions.Count;

    public IReadOnlyDictionary<ulong, Region> Regions => _reform.Regions;

    public IReadOnlyDictionary<ulong, MappedTopic> Topics => _topics;

    /// <summary>How often a topic was moved from one set to another.</summary>
    public long Reassignments => _sets.Reassignments;

    /// <summary>How often all topics were partitioned again.</summary>
    public long Partitions => _sets.Partitions;

    public int TopicCount => _topics.Count;

    /// <summary>The topic's own multicast address; null: it has none.</summary>
    public TopicAddress? AddressOf(MappedTopic topic) => _topicAddresses.Of(topic);

    /// <summary>The topics that have a multicast address of their own.</summary>
    public IReadOnlyCollection<MappedTopic> TopicsWithAddress => [.. _topicAddresses.Held.Select(static held => held.Topic)];

    /// <summary>The number of regions that continue from the earlier service.</summary>
    public int Adopted => _reform.Adopted;

    /// <param name="key">The node.</param>
    /// <param name="hasReturned">Whether it was a member before.</param>
    /// <param name="origin">Where it was a member.</param>
    /// <param name="held">What it holds from there; null: nothing, or this service has made configurations already.</param>
    /// <param name="knownNodes">How many nodes it knew there, itself included.</param>
    public void AddNode(
        NodeKey key, bool hasReturned = false, Origin origin = default, AdoptableViews? held = null, int knownNodes = 0) =>
        _nodes.Add(key, new MappedNode(key) { HasReturned = hasReturned, Origin = origin, Held = held, KnownNodes = knownNodes });

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

        foreach (ulong region in node.VisibleRegions.AwaitingViewEnd)
        {
            _reform.Regions[region].AwaitingViewEnd.Remove(node);
        }

        // A node that was no member gets no other view by being removed, but may have published there.
        if (_reform.Keys is not null)
        {
            _exposed.UnionWith(node.VisibleRegions.ToSorted());
            // It is unknown which of the adopted views the node got from the earlier service.
            if (node.HasReturned)
            {
                _exposed.UnionWith(_reform.Regions.Values.Where(static region => region.IsAdopted).Select(static region => region.Id));
            }
        }

        foreach (var place in node.Places)
        {
            if (place is not null)
            {
                _left?.Remove(place);
            }
        }

        node.Open.Clear();
        node.IsRemoved = true;
        _sets.Remove(node);
    }

    /// <summary>Sets the node's access to a topic from the next configuration on; None closes it.</summary>
    /// <param name="key">The node.</param>
    /// <param name="topicId">The topic.</param>
    /// <param name="role">What the node may do.</param>
    /// <param name="isPinned">Whether the topic owns its region. The value is the same for all nodes that have the topic open.</param>
    /// <param name="memberSince">
    /// The configuration since which the node subscribes to a pinned topic, as the node reports it. Used only while the topic has no
    /// view. 0: from the next on.
    /// </param>
    /// <param name="wasRouted">
    /// Whether the node got the views of all of the topic's regions from the earlier service, and has had them since.
    /// </param>
    public void SetRole(
        NodeKey key, ulong topicId, TopicRole role, bool isPinned = false, long memberSince = 0, bool wasRouted = false)
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

        if (opener.Topic.IsPinned != isPinned)
        {
            _sets.SetPlace(opener.Topic, isPinned, opener.Topic.Enclosure);
        }

        opener.Publishes = role.HasFlag(TopicRole.Publish);
        opener.WasRouted = wasRouted;
        if (opener.Publishes && !opener.IsRouted && !opener.IsFresh)
        {
            _fresh.Add(opener);
        }

        bool subscribes = role.HasFlag(TopicRole.Subscribe);
        if (subscribes != opener.Subscribes)
        {
            SetSubscribes(opener, subscribes);
            // A node that was not in the topic's last view joins those that were, even if it was with them earlier.
            if (subscribes && isPinned && memberSince != 0 && opener.Topic.Regions.Count == 0)
            {
                opener.Topic.SetSince(node, memberSince);
            }
        }
    }

    /// <summary>Sets the identities that may publish in a topic. Subscribers get them with the next configuration.</summary>
    public void SetPublishers(ulong topicId, ImmutableArray<ulong> publishers)
    {
        if (_topics.TryGetValue(topicId, out var topic) && topic.Publishers != publishers)
        {
            topic.Publishers = publishers;
            _restricted.Add(topic);
        }
    }

    /// <summary>
    /// Separates a topic from topics of other enclosures, and of none: they share no region from the next configuration on. A node that may
    /// publish in a topic has the keys of its regions, and so can read everything that is sent there.
    /// </summary>
    public void SetEnclosure(ulong topicId, ulong enclosure)
    {
        if (_topics.TryGetValue(topicId, out var topic) && topic.Enclosure != enclosure)
        {
            _sets.SetPlace(topic, topic.IsPinned, enclosure);
        }
    }

    /// <summary>
    /// The number of nodes that share a region with this one, itself included, counted up to 3; 0 if it is a member of none.
    /// </summary>
    public int RegionSizeOf(NodeKey key)
    {
        if (!_nodes.TryGetValue(key, out var node))
        {
            return 0;
        }

        int size = 0;
        MappedNode? neighbour = null;
        foreach (var place in node.Places)
        {
            foreach (var member in place?.Region?.Members ?? [])
            {
                size = Math.Max(size, 1);
                if (member.Node == node || member.Node == neighbour)
                {
                    continue;
                }

                if (neighbour is not null)
                {
                    return 3;
                }

                neighbour = member.Node;
                size = 2;
            }
        }

        return size;
    }

    /// <summary>The relation of a node to another, in the views that both have.</summary>
    /// <param name="key">The node.</param>
    /// <param name="other">The other.</param>
    /// <param name="withLeft">Whether the regions count that each has left last: a view of theirs may be open still.</param>
    public RegionTie TieOf(NodeKey key, NodeKey other, bool withLeft)
    {
        var tie = RegionTie.None;
        if (!_nodes.TryGetValue(key, out var node) || !_nodes.TryGetValue(other, out var member))
        {
            return tie;
        }

        foreach (var place in member.Places)
        {
            if (place is not null)
            {
                var own = node.PlaceIn(place.Set);
                Look(place.Region, own);
                Look(withLeft ? _left?.GetValueOrDefault(place) : null, own);
            }
        }

        return tie;

        void Look(Region? region, Place? own)
        {
            if (region is not null)
            {
                bool isIn = own is not null && (own.Region == region || (withLeft && _left?.GetValueOrDefault(own) == region));
                var found = isIn ? RegionTie.Neighbour : node.VisibleRegions.Contains(region.Id) ? RegionTie.Sender : RegionTie.None;
                tie = found > tie ? found : tie;
            }
        }
    }

    /// <summary>Makes the next configuration. <see cref="NewsOf"/> then returns the part of each node.</summary>
    public void Apply(long configuration)
    {
        foreach (var node in _nodes.Values)
        {
            node.VisibleRegions.ClearNews();
            node.AdmittedAt = node.AdmittedAt == 0 ? configuration : node.AdmittedAt;
        }

        _sets.Assign(_topics.Values, _nodes.Count);
        _sets.Moved.Sort(static (a, b) =>
            a.Node == b.Node ? a.Set.CompareTo(b.Set) : a.Node.Key.CompareTo(b.Node.Key));
        CollectOutworn();
        _reform.Run(_sets.Moved, _outworn, _topics, configuration, _isFirst ? WholeOrigins() : null);
        _distribution.Run(_reform.Changed, [.. _sets.Changed, .. _restricted], _fresh, configuration, _topicAddresses);
        foreach (var topic in _distribution.Touched)
        {
            ForgetIfUnused(topic);
        }

        if (_reform.Keys is not null)
        {
            foreach (var node in _nodes.Values)
            {
                node.VisibleRegions.WithholdKeys();
            }
        }

        foreach (var place in _sets.Moved)
        {
            if (place.Previous is { } left && !place.Node.IsRemoved)
            {
                (_left ??= [])[place] = left;
            }
        }

        _reform.EndChange();
        _distribution.EndChange();
        _sets.EndChange();
        _fresh.Empty();
        _outworn.Empty();
        if (_isFirst)
        {
            _isFirst = false;
            foreach (var node in _nodes.Values)
            {
                node.Held = null;
            }
        }

        _exposed.Clear();
        _restricted.Empty();
    }

    /// <summary>Called when all superseded views are settled.</summary>
    public void ForgetLeft() => _left = null;

    /// <summary>Called when the last configuration is sent to all nodes: removes the news.</summary>
    public void ForgetNews()
    {
        foreach (var node in _nodes.Values)
        {
            node.VisibleRegions.ClearNews();
        }
    }

    /// <summary>The topics that the node has open.</summary>
    public IReadOnlyCollection<ulong> TopicsOf(NodeKey key) => _nodes[key].Open.Keys;

    public int TopicCountOf(NodeKey key) => _nodes[key].Open.Count;

    public bool IsOpen(NodeKey key, ulong topicId) => _nodes[key].Open.ContainsKey(topicId);

    /// <summary>The part of this node in the last configuration; valid until the next one.</summary>
    public RegionNews NewsOf(NodeKey key) => _nodes[key].VisibleRegions.News;

    /// <summary>Everything that the node has got up to the last configuration and that is still valid, in ascending order of ids.</summary>
    public RegionNews SnapshotOf(NodeKey key)
    {
        var node = _nodes[key];
        List<RegionView> regions = [.. node.VisibleRegions.ToSorted().Select(id => ViewFor(node, _reform.Regions[id].View!))];
        List<TopicView> topics =
        [
            .. node.Open.Values
                .Where(opener => !opener.IsFresh)
                .OrderBy(opener => opener.Topic.Id)
                .Select(opener => opener.Topic.ViewFor(opener.SentSubscribed, opener.IsRouted, _topicAddresses.Of(opener.Topic))),
        ];
        return new RegionNews(regions, topics, []);
    }

    private static RegionView ViewFor(MappedNode node, RegionView view) =>
        view.Key is null || node.VisibleRegions.HasReason(view.RegionId) ? view : view with { Key = null };

    // What is sent after a node was removed is sealed under keys that it does not have.
    //
    // Packets are numbered from 1 in each view, and the members of a view have given up the nodes that went away. A node that has returned
    // therefore never sends in a view from before its return, unless it came with the view and is a member of it: others that came with it
    // may have lost sight of it since.
    private void CollectOutworn()
    {
        _outworn.Clear();
        foreach (ulong id in _exposed)
        {
            if (_reform.Regions.TryGetValue(id, out var region))
            {
                _outworn.Add(region);
            }
        }

        foreach (var opener in _fresh)
        {
            var node = opener.Node;
            if (node.HasReturned && !node.IsRemoved)
            {
                foreach (var region in opener.Topic.Regions.All)
                {
                    if (region.View!.Configuration < node.AdmittedAt && node.PlaceIn(region.Set)?.Region != region)
                    {
                        _outworn.Add(region);
                    }
                }
            }
        }
    }

    // The configurations of the earlier service whose nodes are all here. A node that is missing may have the key of any view.
    private HashSet<Origin> WholeOrigins() =>
    [
        .. _nodes.Values.Where(static node => node.HasReturned).GroupBy(static node => node.Origin)
            .Where(nodes => _reform.Keys is null || nodes.Max(static node => node.KnownNodes) == nodes.Count())
            .Select(static nodes => nodes.Key),
    ];

    private Opener Open(MappedNode node, ulong topicId)
    {
        if (!_topics.TryGetValue(topicId, out var topic))
        {
            topic = new MappedTopic(topicId);
            _topics.Add(topicId, topic);
        }

        var opener = new Opener(node, topic);
        node.Open.Add(topicId, opener);
        topic.Add(opener);
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

        if (opener.IsRouted)
        {
            foreach (var region in opener.Topic.Regions.All)
            {
                node.RemoveReasonFor(region);
            }
        }

        opener.Topic.Remove(opener);
        ForgetIfUnused(opener.Topic);
    }

    private void SetSubscribes(Opener opener, bool subscribes)
    {
        opener.Subscribes = subscribes;
        if (subscribes)
        {
            opener.Topic.Subscribers++;
            _sets.Subscribe(opener.Node, opener.Topic);
        }
        else
        {
            opener.Topic.Subscribers--;
            opener.Topic.ForgetSince(opener.Node);
            opener.Node.Held?.Forget(opener.Topic.Id);
            _sets.Unsubscribe(opener.Node, opener.Topic);
        }
    }

    private void Forget(Opener opener)
    {
        opener.Topic.Remove(opener);
        if (opener.Subscribes)
        {
            opener.Topic.Subscribers--;
            opener.Topic.ForgetSince(opener.Node);
            _sets.NoteLost(opener.Topic);
        }

        ForgetIfUnused(opener.Topic);
    }

    // A topic that was removed may have been opened again since, with a new object of the same id.
    private void ForgetIfUnused(MappedTopic topic)
    {
        if (topic.Openers.IsEmpty && topic.Regions.Count == 0 && _topics.GetValueOrDefault(topic.Id) == topic)
        {
            _topics.Remove(topic.Id);
        }
    }
}

// What one node has to do with another in the regions of which the other is a member.
internal enum RegionTie
{
    None = 0,

    // It sees a region of the other without being a member: it may send there, and waits for acknowledgements.
    Sender,

    // It is a member of a region of the other: the two may be neighbours in a ring.
    Neighbour,
}
