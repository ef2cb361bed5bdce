using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.InMemory;

// What the membership service of a cluster knows, shared by its nodes: who is there, who has which topic open, and with which contract.
// Called from the core threads of all nodes. Views are posted under the lock, so that every node gets them in one order.
internal sealed class InMemoryCluster : INodeNames
{
    private readonly Lock _lock = new();
    private readonly Dictionary<ulong, Registration> _topics = [];
    private readonly Dictionary<ulong, InMemoryWire> _wires = [];
    // What nodes want to know of topics that are published.
    private readonly Dictionary<(InMemoryParts Node, ulong Id), FollowTopicsMessage> _followed = [];
    private ImmutableArray<InMemoryParts> _nodes = [];
    private readonly DepartedNames _departed = new();
    private NodeRoster _roster = new SharedViews().NoNodes;
    private ulong _lastNode;
    private long _configuration;

    public int Members => _nodes.Length;

    public bool Contains(NodeKey node) => FindNode(node) is not null;

    public InMemoryParts? FindNode(NodeKey node)
    {
        foreach (var one in _nodes)
        {
            if (one.Self == node)
            {
                return one;
            }
        }

        return null;
    }

    public string? Find(NodeKey node) => FindNode(node)?.Name ?? _departed.Find(node);

    public NodeKey NewNode() => new(Interlocked.Increment(ref _lastNode), 1);

    public void Enter(InMemoryParts node)
    {
        lock (_lock)
        {
            _nodes = _nodes.Add(node);
            long admitted = _configuration + 1;
            var info = new NodeInfo(node.Self, new IPEndPoint(IPAddress.Loopback, 0), admitted, admitted) { Name = node.Name };
            _roster = _roster.After(isSnapshot: false, [info], []);
            PostAll();
        }
    }

    public void Leave(InMemoryParts node)
    {
        lock (_lock)
        {
            if (!_nodes.Contains(node))
            {
                return;
            }

            _departed.Add([new NamedNode(node.Self, node.Name)]);
            _nodes = _nodes.Remove(node);
            _roster = _roster.After(isSnapshot: false, [], [node.Self]);
            foreach (var one in _followed.Keys.Where(one => one.Node == node).ToArray())
            {
                _followed.Remove(one);
            }

            foreach (var (id, topic) in _topics.ToArray())
            {
                if (topic.Roles.Remove(node))
                {
                    OnRoles(id, topic);
                }
            }

            PostAll();
        }
    }

    /// <summary>Sets the access of a node to a topic. Returns what differs if the others have another contract.</summary>
    public string? Open(InMemoryParts node, TopicRequest request)
    {
        lock (_lock)
        {
            if (!_topics.TryGetValue(request.TopicId, out var topic))
            {
                _topics.Add(request.TopicId, topic = new Registration(request.Name, ++_configuration, request.Contract));
            }
            else if (ContractMatch.Difference(request.Name, topic.Contract, request.Contract) is { } difference)
            {
                return difference + Holder(topic, node);
            }

            if (topic.Contract.Parameters.IsAny)
            {
                topic.Contract = request.Contract;
            }

            topic.Roles[node] = request.Role;
            PostView(request.TopicId, topic);
            ReportToFollowers(topic.Name);
            return null;
        }
    }

    // A sentence that names a node that has the topic open.
    private static string Holder(Registration topic, InMemoryParts asks) =>
        topic.Roles.Keys.Where(node => node != asks).MinBy(static node => node.Self) is { } holder
            ? $" Node {new NamedNode(holder.Self, holder.Name)} has that version open."
            : "";

    public void Close(InMemoryParts node, ulong topicId)
    {
        lock (_lock)
        {
            if (_topics.TryGetValue(topicId, out var topic) && topic.Roles.Remove(node))
            {
                OnRoles(topicId, topic);
            }
        }
    }

    /// <summary>A node wants to know of the topics with a prefix from now on, or no longer.</summary>
    public void Follow(InMemoryParts node, FollowTopicsMessage request)
    {
        lock (_lock)
        {
            if (request.Most == 0)
            {
                _followed.Remove((node, request.Id));
                return;
            }

            _followed[(node, request.Id)] = request;
            ReportTo(node, request);
        }
    }

    /// <summary>What carries the messages of a topic.</summary>
    public InMemoryWire WireOf(ulong topicId)
    {
        lock (_lock)
        {
            return _wires.TryGetValue(topicId, out var known) ? known : _wires[topicId] = new InMemoryWire(topicId);
        }
    }

    // The contract is forgotten with the last endpoint.
    private void OnRoles(ulong topicId, Registration topic)
    {
        if (topic.Roles.Count == 0)
        {
            _topics.Remove(topicId);
            WireOf(topicId).ForgetView();
        }
        else
        {
            PostView(topicId, topic);
        }

        ReportToFollowers(topic.Name);
    }

    private void ReportToFollowers(string name)
    {
        foreach (var ((node, _), request) in _followed)
        {
            if (name.StartsWith(request.Prefix, StringComparison.Ordinal))
            {
                ReportTo(node, request);
            }
        }
    }

    // All are reported each time. The first stay the first, so that a reported one stays reported until it is gone.
    private void ReportTo(InMemoryParts node, FollowTopicsMessage request)
    {
        var published = _topics.Values
            .Where(topic => topic.IsPublished && topic.Name.StartsWith(request.Prefix, StringComparison.Ordinal))
            .OrderBy(static topic => topic.Number)
            .Select(static topic => topic.Name)
            .ToList();
        node.PostFollowed(new FollowedTopicsMessage
        {
            Id = request.Id,
            Begins = true,
            Ends = true,
            Published = [.. published.Take(request.Most)],
            Beyond = Math.Max(0, published.Count - request.Most),
        });
    }

    // Each topic has a region of its own, whose members are its subscribers.
    private void PostView(ulong topicId, Registration topic)
    {
        long number = ++_configuration;
        topic.CountSubscribers(number);
        var subscribers = topic.Since.OrderBy(static one => one.Key).ToList();
        var region = new RegionView
        {
            RegionId = topicId,
            Number = (uint)number,
            Configuration = number,
            Group = null,
            Members = [.. subscribers.Select(static one => one.Key)],
            Since = [.. subscribers.Select(static one => one.Value)],
        };
        WireOf(topicId).SendView(region);
        foreach (var (node, role) in topic.Roles)
        {
            node.PostView(
                number,
                new TopicView
                {
                    TopicId = topicId,
                    Configuration = number,
                    Regions = region.Members.IsEmpty ? [] : [topicId],
                    Subscribed = (role & TopicRole.Subscribe) != 0,
                    Routed = true,
                    Subscribers = region.Members.Length,
                },
                region);
        }
    }

    private void PostAll()
    {
        long number = ++_configuration;
        foreach (var node in _nodes)
        {
            node.PostNodes(number, _roster);
        }
    }

    private sealed class Registration(string name, long number, ContractDescription contract)
    {
        public string Name { get; } = name;

        public long Number { get; } = number;

        public ContractDescription Contract { get; set; } = contract;

        public Dictionary<InMemoryParts, TopicRole> Roles { get; } = [];

        /// <summary>The subscribers, each with the configuration since which it is one.</summary>
        public Dictionary<NodeKey, long> Since { get; } = [];

        /// <summary>Notes the subscribers of a configuration.</summary>
        public void CountSubscribers(long configuration)
        {
            var subscribers = Roles.Where(static one => (one.Value & TopicRole.Subscribe) != 0)
                .Select(static one => one.Key.Self).ToHashSet();
            foreach (var gone in Since.Keys.Where(node => !subscribers.Contains(node)).ToArray())
            {
                Since.Remove(gone);
            }

            foreach (var node in subscribers)
            {
                Since.TryAdd(node, configuration);
            }
        }

        public bool IsPublished => Roles.Values.Any(static role => (role & TopicRole.Publish) != 0);
    }
}
