using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Composition;

// Membership and multicast over any environment: a machine's or a simulated one.
internal abstract class ProtocolParts(
    ProtocolOptions options, ImmutableArray<IPEndPoint> services, ConfigurationCache configurations, ILoggerFactory logs)
    : INodeParts
{
    private readonly GuardedLoggers _logs = GuardedLoggers.Of(logs);
    private MembershipClient? _membership;
    private MulticastNode? _multicast;

    public virtual TopicProtocols Protocols => options.Protocols;

    public abstract INodeEnvironment Environment { get; }

    protected abstract CoreCounters CoreCounters { get; }

    /// <summary>How the names of the servers are resolved again; null: their addresses do not change.</summary>
    protected virtual ServerResolution? Resolution => null;

    public abstract TimeProvider OutsideTime { get; }

    public virtual TimeProvider WatchTime => OutsideTime;

    public virtual TaskCreationOptions Completions => TaskCreationOptions.RunContinuationsAsynchronously;

    public virtual bool ResumesInContext => false;

    public virtual Task EndStartAsync(Func<Task> end) => end();

    public virtual string? Interface => null;

    public virtual bool HasMeter => true;

    public virtual bool HandlersCanBlock => true;

    public string Name => field ??= options.Node.Name ?? NodeName.Of(Environment.Label, options.Node.Application);

    public INodeNames Names => _membership?.Names ?? NoNodeNames.Instance;

    public IMembership Membership => _membership ?? throw NotBegun();

    public IMulticast Multicast => _multicast ?? throw NotBegun();

    public void Begin(IMembershipObserver observer)
    {
        _multicast = new MulticastNode(Environment, options.Multicast, (below, address) =>
        {
            byte[]? proof = options.Credentials is null ? null : NodeProof.Make(Environment);
            ulong id = proof is null ? Environment.NextRandom() : NodeProof.IdOf(proof);
            var self = new NodeKey(id, (uint)Environment.UtcNow.ToUnixTimeSeconds());
            var membership = new MembershipClientOptions
            {
                Self = self,
                Proof = proof,
                Name = Name,
                EndPoint = address.EndPoint,
                Services = services,
                Resolution = Resolution,
                Hosted = options.Service,
                Discovery = options.Discovery,
                // The handshake is part of connecting, and may wait for its turn at the service.
                ConnectTimeout = options.Credentials is null ? MembershipClientOptions.PlainConnectTimeout : TlsConnection.HandshakeLimit,
            };
            var logger = _logs.CreateLogger("QuickSilver.Membership");
            return _membership = new MembershipClient(Environment, membership, below, configurations, logger);
        });
        _multicast.Observer = observer;
        _multicast.Log = _logs.CreateLogger("QuickSilver.Multicast");
        _membership!.Start();
    }

    public string? LastRefusal => _membership?.LastRefusal;

    public string? LastFailure => _membership?.LastFailure;

    public string? KeyFailure => _membership?.KeyFailure;

    public IReadOnlyList<Trouble> Troubles
    {
        get
        {
            var others = _multicast?.Troubles ?? [];
            Trouble?[] own = [_membership?.Trouble, PoolTrouble, Environment.Descriptors?.Trouble];
            return own is [null, null, null] ? others : [.. own.OfType<Trouble>(), .. others];
        }
    }

    /// <summary>The thread pool of the process starts no work; null while it does, and in a simulation.</summary>
    protected virtual Trouble? PoolTrouble => null;

    protected virtual long PoolStarvations => 0;

    public IReadOnlyList<PacedTopic> Paced => _multicast?.Paced ?? [];

    public IPEndPoint? ServiceEndPoint => _membership?.ServiceEndPoint;

    public bool IsServiceHosted => services.IsEmpty;

    public string? WhyNotHost =>
        options.Credentials is { } credentials ? SecurityComposition.FaultOf(credentials, PeerRole.Service) : null;

    public int Members => _membership?.NodeCount ?? 0;

    public Trouble? Isolation => _membership?.Isolation;

    public TopicView? ViewOf(ulong topicId) => _multicast?.ViewOf(topicId);

    public RegionView? RegionOf(ulong region) => _multicast?.RegionOf(region);

    public bool IsMember(NodeKey node) => _multicast?.Context.Directory.Contains(node) == true;

    public PartsCounters ReadCounters()
    {
        if (_multicast is not { } multicast)
        {
            return default;
        }

        var counters = multicast.Counters;
        var core = CoreCounters;
        return new PartsCounters
        {
            PacketsSent = counters.PacketsSent,
            PacketsReceived = counters.PacketsReceived,
            PacketsDropped = counters.DroppedInAll,
            Drops = [.. counters.Drops],
            DiscoveryDrops = _membership?.Counters.DiscoveryDrops ?? [],
            Stalls = counters.Stalls,
            Repairs = counters.RepairsSent + counters.RepairsReceived,
            KernelDrops = counters.KernelDrops,
            RepairRequests = counters.PullsSent,
            CollectiveNaksSent = counters.CollectiveNaksSent,
            CollectiveNaksReceived = counters.CollectiveNaksReceived,
            UnackedBytes = multicast.Readings.UnackedBytes,
            Regions = counters.Regions,
            CopiesSent = counters.CopiesSent,
            MessagesWithoutRight = counters.MessagesWithoutRight,
            SendsWithoutKey = counters.Keyless,
            SharedPacketsSent = counters.SharedPacketsSent,
            SendsSaved = counters.SendsSaved,
            SharedPacketsReceived = counters.SharedPacketsReceived,
            UnheardSenders = counters.UnheardSenders,
            DeafMembers = counters.DeafMembers,
            SmallPaths = counters.SmallPaths,
            SmallestPathBytes = counters.SmallestPathBytes == 0 ? multicast.Context.Options.PacketBytes : counters.SmallestPathBytes,
            IsSegmented = multicast.MaxRunSegments > 1,
            LongSteps = Volatile.Read(ref core.LongSteps),
            PauseTime = TimeSpan.FromTicks(Volatile.Read(ref core.PauseTicks)),
            LongestPause = TimeSpan.FromTicks(Volatile.Read(ref core.LongestPauseTicks)),
            PausesNotRunning = Volatile.Read(ref core.PausesNotRunning),
            PausesOfCollector = Volatile.Read(ref core.PausesOfCollector),
            PausesOfCompiler = Volatile.Read(ref core.PausesOfCompiler),
            PausesOfHandlers = Volatile.Read(ref core.PausesOfHandlers),
            PausesTold = counters.PausesTold,
            QuantaExceeded = Volatile.Read(ref core.QuantaExceeded),
            LateAlarms = Volatile.Read(ref core.LateAlarms),
            CollectorPauseTime = core.GcPauseTime,
            PoolStarvations = PoolStarvations,
            ReceiveTime = TimeSpan.FromTicks(Volatile.Read(ref core.InputTicks)),
            AlarmTime = TimeSpan.FromTicks(Volatile.Read(ref core.AlarmTicks)),
            RequestTime = TimeSpan.FromTicks(Volatile.Read(ref core.RequestTicks) + Volatile.Read(ref core.OutputTicks)),
            PacketMemoryBytes = Environment.Buffers.LeasedBlocks * SlabPool.BlockBytes,
            PendingPackets = multicast.Readings.PendingPackets,
            Configuration = counters.Configuration,
            ConfigurationsApplied = counters.ConfigurationsApplied,
            ConfigurationAge = TimeSpan.FromTicks(counters.ConfigurationAgeTicks),
            Views = counters.OpenViews,
            SupersededViews = counters.SupersededViews,
            OldestSupersededView = TimeSpan.FromTicks(counters.OldestSupersededTicks),
        };
    }

    public PartsTimes? Times => field ??= _multicast is { } multicast ? new PartsTimes(CoreCounters, multicast.Counters) : null;

    public abstract Task StopAsync();

    /// <summary>Closes both layers. Called on the core thread.</summary>
    protected void Close()
    {
        _multicast?.Close();
        _membership?.Dispose();
    }

    private static InvalidOperationException NotBegun() => new("The node's protocols are not started.");
}
