using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;

namespace QuickSilver.Microbenchmarks.DataPath;

// A whole node over the bare environment: the real face and the real multicast, and a membership service that grants
// everything and puts this node into one region with a peer.
internal sealed class BareParts : INodeParts, IMembership
{
    public const ulong ClusterId = 7;
    private readonly BareEnvironment _environment = new();
    private MulticastNode? _multicast;
    private long _configuration;

    public BareEnvironment Core => _environment;

    public MulticastNode Node => _multicast!;

    public NodeKey Peer { get; } = new(0x11, 1);

    public NodeKey Self { get; } = new(0x51, 7);

    public bool IsReachable => true;

    public NodeRoster Roster { get; } = new SharedViews().NoNodes;

    public TopicFollows Follows { get; } = new(static _ => { });

    public INodeEnvironment Environment => _environment;

    public IMembership Membership => this;

    public IMulticast Multicast => _multicast!;

    public TimeProvider OutsideTime => TimeProvider.System;

    public string? LastRefusal => null;

    public RegionView Region { get; private set; } = null!;

    public void Begin(IMembershipObserver observer)
    {
        _multicast = new MulticastNode(_environment, new MulticastOptions { ClusterId = ClusterId }, (_, _) => this)
        {
            Observer = observer,
        };
        observer.OnServiceReachable(true);
    }

    public void Open(TopicRequest request, Action<TopicOutcome> completed)
    {
        completed(new TopicOutcome(null));
        Region = new RegionView
        {
            RegionId = 0xBEEF,
            Number = 1,
            Configuration = ++_configuration,
            Group = new IPEndPoint(IPAddress.Parse("239.1.0.1"), 20001),
            Members = [Peer, Self],
        };
        var topic = new TopicView
        {
            TopicId = request.TopicId,
            Configuration = _configuration,
            Regions = [Region.RegionId],
            Subscribed = true,
            Routed = true,
            Subscribers = 2,
        };
        var address = new IPEndPoint(IPAddress.Loopback, 9);
        _multicast!.OnConfiguration(new ConfigurationChange
        {
            Number = _configuration,
            IsSnapshot = false,
            Joined = [new NodeInfo(Peer, address, 1, 1), new NodeInfo(Self, address, 2, 1)],
            Regions = [Region],
            Topics = [topic],
        });
    }

    public void Close(ulong topicId)
    {
    }

    public void Confirm(long configuration, ImmutableArray<OpenView> open)
    {
    }

    public void ReportSuspect(NodeKey node, string reason)
    {
    }

    public void GiveUp(string reason)
    {
    }

    public void Leave(Action completed) => completed();

    public TopicView? ViewOf(ulong topicId) => _multicast?.ViewOf(topicId);

    public Task StopAsync() => Task.CompletedTask;

    public ITopic<T> Open<T>(string name)
    {
        var starting = QuickSilverNode.StartAsync(this, new QuickSilverOptions(), NullLoggerFactory.Instance, default);
        var opening = Settle(starting).OpenTopicAsync<T>(name);
        return Settle(opening);
    }

    private T Settle<T>(Task<T> task)
    {
        while (!task.IsCompleted)
        {
            _environment.Pump();
            Thread.Yield();
        }

        return task.Result;
    }
}
