using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;

namespace QuickSilver.Composition;

// Membership and multicast over any environment: the machine's, or a simulated one.
internal abstract class ProtocolParts(QuickSilverOptions options, IPEndPoint? service, ILoggerFactory logs) : INodeParts
{
    private MembershipClient? _membership;
    private MulticastNode? _multicast;

    public abstract INodeEnvironment Environment { get; }

    public abstract TimeProvider OutsideTime { get; }

    public virtual TaskCreationOptions Completions => TaskCreationOptions.RunContinuationsAsynchronously;

    public virtual bool ResumesInContext => false;

    /// <summary>Null: tokens go when there is something to tell. For experiments.</summary>
    public TimeSpan? TokenInterval { get; init; }

    /// <summary>1: acknowledgements say one number. For experiments.</summary>
    public int FeedbackRanges { get; init; } = 1;

    public virtual bool HasMeter => true;

    /// <summary>How a service that this node hosts parts topics into sets.</summary>
    public TopicSetRules TopicSets { get; init; } = new();

    public IMembership Membership => _membership ?? throw NotBegun();

    public IMulticast Multicast => _multicast ?? throw NotBegun();

    public void Begin(IMembershipObserver observer)
    {
        var multicast = new MulticastOptions
        {
            ClusterId = TopicId.Of(options.Cluster),
            PacketBytes = options.PacketBytes,
            RetentionBytes = options.RetentionBytes,
            ReceiveBufferBytes = options.ReceiveBufferBytes,
            RepairBytesPerSecond = options.RepairBytesPerSecond,
            SegmentationOffload = options.SegmentationOffload,
            Unicast = options.Dissemination == Dissemination.Unicast,
            TokenIntervalFixed = TokenInterval,
            FeedbackRanges = FeedbackRanges,
        };
        _multicast = new MulticastNode(Environment, multicast, (below, address) =>
        {
            var self = new NodeKey(Environment.NextRandom(), (uint)Environment.UtcNow.ToUnixTimeSeconds());
            var membership = new MembershipClientOptions
            {
                Self = self,
                EndPoint = address.EndPoint,
                Service = service,
                Hosted = ServiceOptions(options) with { TopicSets = TopicSets },
                Discovery = new DiscoveryOptions { Port = options.DiscoveryPort },
            };
            return _membership = new MembershipClient(Environment, membership, below, logs.CreateLogger("QuickSilver.Membership"));
        });
        _multicast.ConfigurationApplied = observer.OnConfiguration;
        _multicast.Settled = observer.OnSettled;
        _multicast.Expelled = observer.OnExpelled;
        _multicast.ServiceReachable = observer.OnServiceReachable;
        _membership!.Start();
    }

    public string? LastRefusal => _membership?.LastRefusal;

    public TopicView? ViewOf(ulong topicId) => _multicast?.ViewOf(topicId);

    public PartsCounters ReadCounters()
    {
        if (_multicast is not { } multicast)
        {
            return default;
        }

        var counters = multicast.Counters;
        return new PartsCounters
        {
            PacketsSent = counters.PacketsSent,
            PacketsReceived = counters.PacketsReceived,
            PacketsDropped = counters.DroppedInAll,
            Repairs = counters.RepairsSent + counters.RepairsReceived,
            KernelDrops = counters.KernelDrops,
            UnackedBytes = counters.UnackedBytes,
            Regions = counters.Regions,
            IsSegmented = multicast.MaxRunSegments > 1,
        };
    }

    public abstract Task StopAsync();

    public static MembershipServiceOptions ServiceOptions(QuickSilverOptions options) => new()
    {
        Cluster = options.Cluster,
        MulticastBase = options.MulticastBase,
        MulticastPrefix = options.MulticastPrefix,
        Repair = new RepairRules(options.Replicas, options.RingSize),
        Failures = new FailureDetectorOptions
        {
            HeartbeatInterval = options.HeartbeatInterval,
            HeartbeatsMissed = options.HeartbeatsMissed,
        },
    };

    /// <summary>Closes both layers; on the core thread.</summary>
    protected void Close()
    {
        _multicast?.Close();
        _membership?.Dispose();
    }

    private static InvalidOperationException NotBegun() => new("The node's protocols have not begun.");
}
