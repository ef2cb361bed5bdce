using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Background;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.InMemory;

// A node of a network in memory: a core thread as every node has one, which opens no socket, and the others of its cluster by reference.
internal sealed class InMemoryParts : INodeParts, IMembership, IMulticast
{
    // Messages are on the heap, so packet memory is not used.
    private const int BufferBytes = 1 << 20;

    private readonly InMemoryCluster _cluster;
    private readonly MachineEnvironment _environment;
    private readonly Dictionary<ulong, TopicView> _views = [];
    private readonly Dictionary<ulong, RegionView> _regions = [];
    private readonly ReceivedShares _received;
    // The pinned topics whose publishers on this node wait for a barrier. Null until there is one.
    private HashSet<ulong>? _held;
    private IMembershipObserver? _observer;
    private bool _isClosed;

    public InMemoryParts(InMemoryCluster cluster, QuickSilverOptions options, ILoggerFactory logs)
    {
        _cluster = cluster;
        Self = cluster.NewNode();
        _received = new ReceivedShares(options.Limits.ReceivedMessageBytes);
        Name = options.Name ?? NodeName.Of(ProcessLabel.OfThisProcess, options.Application);
        var machine = new MachineEnvironmentOptions
        {
            Name = $"QuickSilver {options.Cluster}",
            LocalAddress = IPAddress.Loopback,
            BufferBytes = BufferBytes,
            SegmentationOffload = false,
            StorageDirectory = options.StorageDirectory,
        };
        _environment = MachineStart.Of(machine, logs);
    }

    public INodeEnvironment Environment => _environment;

    public IMembership Membership => this;

    public IMulticast Multicast => this;

    public IPacketExchange Packets => ProtocolPackets;

    public InMemoryPackets ProtocolPackets => field ??= new InMemoryPackets(this, _cluster);

    public TimeProvider OutsideTime => TimeProvider.System;

    public TimeProvider WatchTime => ThreadedTime.Instance;

    public NodeKey Self { get; }

    private ParkingBudget Parking =>
        field ??= new ParkingBudget(_received.ParkedBytesOfTopic, _received.ParkedBytes, Environment.Heap);

    public bool IsReachable => true;

    public NodeRoster Roster { get; private set; } = new SharedViews().NoNodes;

    public TopicFollows Follows => field ??= new TopicFollows(message => _cluster.Follow(this, message));

    public string Name { get; }

    public INodeNames Names => _cluster;

    public string? LastRefusal => null;

    public int Members => _cluster.Members;

    public void Begin(IMembershipObserver observer)
    {
        _observer = observer;
        _cluster.Enter(this);
        observer.OnServiceReachable(true);
    }

    public TopicView? ViewOf(ulong topicId) => _views.GetValueOrDefault(topicId);

    public RegionView? RegionOf(ulong region) => _regions.GetValueOrDefault(region);

    public bool IsMember(NodeKey node) => _cluster.Contains(node);

    public HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate) =>
        new(channel, sink, gate, Environment, Parking, (spec, holding) => OpenSubscription(spec, holding));

    public void Open(TopicRequest request, Action<TopicOutcome> completed) => completed(new TopicOutcome(_cluster.Open(this, request)));

    public void Close(ulong topicId)
    {
        _cluster.Close(this, topicId);
        _views.Remove(topicId);
        _regions.Remove(topicId);
    }

    public void Confirm(long configuration, ImmutableArray<OpenView> open)
    {
    }

    public void ReportSuspect(NodeKey node, string reason)
    {
    }

    public void GiveUp(string reason)
    {
        _cluster.Leave(this);
        _observer!.OnGaveUp(reason);
    }

    public void Leave(Action completed)
    {
        _cluster.Leave(this);
        completed();
    }

    public ITopicSender OpenPublisher(in ChannelSpec channel) => new InMemorySender(this, _cluster.WireOf(channel.Topic));

    public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink) =>
        new InMemoryReceiver(this, _cluster.WireOf(channel.Topic), channel, sink);

    /// <summary>Core thread: a view of a pinned topic has come, before the configuration with it.</summary>
    public void SetRegion(RegionView view) => _regions[view.RegionId] = view;

    /// <summary>Core thread: whether a barrier holds the publishers of the topic.</summary>
    public bool IsHeld(ulong topicId) => _held?.Contains(topicId) == true;

    /// <summary>Core thread: no publisher of the topic on this node takes a message while it is held.</summary>
    public void SetHeld(InMemoryWire wire, bool isHeld)
    {
        _held ??= [];
        if (isHeld)
        {
            _held.Add(wire.TopicId);
        }
        else
        {
            _held.Remove(wire.TopicId);
            wire.OnRoom();
        }
    }

    /// <summary>From any thread: the action runs on the core thread, unless it has ended.</summary>
    public void Post(Action action) => _environment.Post(new ActionRequest(() =>
    {
        if (!_isClosed)
        {
            action();
        }
    }));

    /// <summary>From any thread: a report for the node about the topics that it follows.</summary>
    public void PostFollowed(FollowedTopicsMessage message) => Post(() => Follows.OnFollowedTopics(message));

    /// <summary>From any thread: a configuration with the view of a topic.</summary>
    public void PostView(long number, TopicView view, RegionView region) => Post(() =>
    {
        _views[view.TopicId] = view;
        _regions[region.RegionId] = region;
        _observer!.OnConfiguration(new ConfigurationChange { Number = number, IsSnapshot = false, Topics = [view] });
    });

    /// <summary>From any thread: a configuration with the nodes of the cluster.</summary>
    public void PostNodes(long number, NodeRoster roster) => Post(() =>
    {
        Roster = roster;
        _observer!.OnConfiguration(new ConfigurationChange { Number = number, IsSnapshot = false, Topics = [] });
    });

    public async Task StopAsync()
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _environment.Post(new ActionRequest(() =>
        {
            _isClosed = true;
            closed.SetResult();
        }));
        await closed.Task.ConfigureAwait(false);
        _cluster.Leave(this);
        _environment.Dispose();
    }
}
