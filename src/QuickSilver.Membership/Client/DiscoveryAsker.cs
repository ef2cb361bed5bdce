using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Client;

// Asks the network for the cluster's membership services and hands on what answers: only answers that carry this asker's
// nonce, so that a late answer to somebody else, or to an earlier life, is not taken for one.
internal sealed class DiscoveryAsker(DiscoveryContext context, Action<DiscoveryDatagram> onAnswer) : IDatagramReceiver, IDisposable
{
    private readonly DatagramAddress _group = new(new IPEndPoint(context.Options.Group, context.Options.Port));
    private readonly ulong _nonce = context.Environment.NextRandom();
    private IDatagramPort? _port;

    /// <summary>Sends one question, as a host or as none.</summary>
    public void Ask(HostIdentity asker)
    {
        try
        {
            _port ??= context.Environment.OpenPort(DiscoveryContext.SmallPort, this);
        }
        catch (TransportException refused)
        {
            context.ReportFailure(refused.Message);
            return;
        }

        Span<byte> bytes = stackalloc byte[DiscoveryDatagram.Bytes];
        new DiscoveryDatagram(false, context.ClusterHash, _nonce, asker, _port.LocalEndPoint).Write(bytes);
        context.Counters.QueriesSent++;
        if (_port.Send(bytes, bytes.Length, _group) == SendOutcome.Refused)
        {
            context.ReportFailure($"a question to {_group} was refused");
        }
    }

    public void Dispose()
    {
        _port?.Dispose();
        _port = null;
    }

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) => true;

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        for (int at = 0; at < run.Length && _port is not null; at += DiscoveryDatagram.Bytes)
        {
            if (DiscoveryDatagram.TryRead(run.Span[at..], out var answer)
                && answer.IsAnswer
                && answer.Nonce == _nonce
                && answer.ClusterHash == context.ClusterHash)
            {
                onAnswer(answer);
            }
            else
            {
                context.Counters.ForeignDatagrams++;
            }
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }
}

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

    private string? _lastFailure;

    public INodeEnvironment Environment { get; } = environment;
    public DiscoveryOptions Options { get; } = options;
    public ulong ClusterHash { get; } = DiscoveryDatagram.HashOf(cluster);
    public ClientCounters Counters { get; } = counters;
    public ILogger Logger { get; } = logger;

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
