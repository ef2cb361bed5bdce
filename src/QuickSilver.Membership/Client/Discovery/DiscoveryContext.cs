using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Client.Discovery;

// What asking, answering and hosting share.
internal sealed class DiscoveryContext(
    INodeEnvironment environment,
    DiscoveryOptions options,
    string cluster,
    ClientCounters counters,
    ILogger logger)
{
    // Discovery is a few small datagrams: no offload, no large buffers.
    public static readonly DatagramPortOptions SmallPort = new()
    {
        ReceiveBufferBytes = 256 << 10,
        SendBufferBytes = 64 << 10,
        SegmentationOffload = false,
    };

    private readonly DiscoverySeal _seal = new(options.Keys);
    private string? _lastFailure;
    private bool _hadOthers;

    public INodeEnvironment Environment { get; } = environment;
    public DiscoveryOptions Options { get; } = options;
    /// <summary>Where questions go.</summary>
    public IPEndPoint Group { get; } = new(options.GroupOf(environment.LocalAddress), options.Port);
    public ulong ClusterHash { get; } = DiscoveryDatagram.HashOf(cluster);
    public ClientCounters Counters { get; } = counters;
    public ILogger Logger { get; } = logger;

    /// <summary>Whether this node was in the cluster with others, and all of them have left since.</summary>
    public bool IsLeftAlone { get; private set; }

    /// <summary>
    /// Whether datagrams are a hint only, because nothing authenticates them, while streams prove the identity of a peer. That is so with
    /// certificates.
    /// </summary>
    public bool NeedsProof => Options.Keys is { } keys && keys().IsDefaultOrEmpty;

    /// <summary>
    /// Reads a datagram of this cluster and this version; anything else is counted. Nodes of two versions cannot be in one
    /// cluster, so they do not answer each other either: one would follow the other and be refused by it, forever.
    /// </summary>
    public bool TryRead(ReadOnlySpan<byte> bytes, out DiscoveryDatagram datagram)
    {
        if (!DiscoveryDatagram.TryRead(bytes, out datagram) || datagram.ClusterHash != ClusterHash)
        {
            Counters.ForeignDatagrams++;
            return false;
        }

        if (datagram.Version == ControlFrame.ProtocolVersion)
        {
            return IsAuthentic(bytes, ref datagram);
        }

        // The version is not authenticated.
        if (RepeatedEvent.IsLogged(++Counters.OtherVersions))
        {
            Logger.OtherVersion(datagram.Version, ControlFrame.ProtocolVersion, Counters.OtherVersions);
        }

        return false;
    }

    /// <summary>The cluster has so many nodes now, this one included.</summary>
    public void OnMembers(int count)
    {
        _hadOthers |= count > 1;
        IsLeftAlone = _hadOthers && count == 1;
    }

    /// <summary>Writes a datagram, which takes at most <see cref="DiscoverySeal.MostBytes"/>; how many it took.</summary>
    public int Write(in DiscoveryDatagram datagram, Span<byte> bytes) => _seal.Write(datagram, bytes);

    private bool IsAuthentic(ReadOnlySpan<byte> bytes, ref DiscoveryDatagram datagram)
    {
        if (_seal.TryOpen(bytes, out byte[]? key))
        {
            datagram = datagram with { Key = key };
            return true;
        }

        if (RepeatedEvent.IsLogged(++Counters.NotAuthentic))
        {
            Logger.DiscoveryNotAuthentic(datagram.EndPoint, Counters.NotAuthentic);
        }

        return false;
    }

    /// <summary>Logs a failure of the network, once until it changes.</summary>
    public void ReportFailure(string reason)
    {
        if (reason != _lastFailure)
        {
            _lastFailure = reason;
            Logger.DiscoveryFailed(reason);
        }
    }

    /// <summary>A random time from 0 up to <paramref name="limit"/>.</summary>
    public TimeSpan Jitter(TimeSpan limit) => limit * ((Environment.NextRandom() >> 11) * (1.0 / (1UL << 53)));
}
