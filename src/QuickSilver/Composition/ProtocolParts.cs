using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
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
    private LayerCounters _counters = LayerCounters.None;

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
        Volatile.Write(ref _counters, CountersOf(_multicast, _membership!));
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

    public virtual long PoolStarvations => 0;

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

    public LayerCounters Counters => Volatile.Read(ref _counters);

    public bool IsSegmented => _multicast is { MaxRunSegments: > 1 };

    public abstract Task StopAsync();

    /// <summary>Closes both layers. Called on the core thread.</summary>
    protected void Close()
    {
        _multicast?.Close();
        _membership?.Dispose();
    }

    private LayerCounters CountersOf(MulticastNode multicast, MembershipClient membership) => new()
    {
        Core = CoreCounters,
        Membership = membership.Counters,
        Multicast = multicast.Counters,
        Retention = multicast.Context.Sending.Retention,
        PacketBytes = multicast.Context.Options.PacketBytes,
    };

    private static InvalidOperationException NotBegun() => new("The node's protocols are not started.");
}
