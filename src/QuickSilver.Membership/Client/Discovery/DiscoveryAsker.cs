using QuickSilver.Core.Transport;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Client.Discovery;

// Asks the network for the cluster's membership services and passes the answers on. Only answers that carry this asker's nonce count, so
// that a late answer to another node or to an earlier life is ignored.
internal sealed class DiscoveryAsker(DiscoveryContext context, Action<DiscoveryDatagram> onAnswer) : IDatagramReceiver, IDisposable
{
    private readonly DatagramAddress _group = new(context.Group);
    private ulong _nonce = context.Environment.NextRandom();
    private IDatagramPort? _port;

    /// <summary>
    /// Sends one question, as a host or as none. A host is answered with regard to how it stood when it asked, so only the
    /// answers to its last question count; for a node that looks for a service any answer is good.
    /// </summary>
    public void Ask(HostStanding asker)
    {
        if (asker.IsHost)
        {
            _nonce = context.Environment.NextRandom();
        }

        if (Open() is { } port)
        {
            context.Counters.QueriesSent++;
            Send(new DiscoveryDatagram(DiscoveryKind.Question, context.ClusterHash, _nonce, asker, port.LocalEndPoint));
        }
    }

    /// <summary>Sends what belongs to the last question and its answer.</summary>
    public void Send(in DiscoveryDatagram datagram)
    {
        Span<byte> bytes = stackalloc byte[DiscoverySeal.MostBytes];
        int length = context.Write(datagram, bytes);
        if (Open()?.Send(bytes[..length], length, _group) == SendOutcome.Refused)
        {
            context.ReportFailure($"the system refused to send to {_group}");
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
        for (int at = 0; at < run.Length && _port is not null; at += DiscoverySeal.LengthOf(run.Span[at..]))
        {
            if (context.TryRead(run.Span[at..], out var answer))
            {
                if (answer.Kind == DiscoveryKind.Answer && answer.Nonce == _nonce)
                {
                    onAnswer(answer);
                }
                else
                {
                    context.Counters.ForeignDatagrams++;
                }
            }
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private IDatagramPort? Open()
    {
        try
        {
            return _port ??= context.Environment.OpenPort(DiscoveryContext.SmallPort, this);
        }
        catch (TransportException refused)
        {
            context.ReportFailure(refused.Message);
            return null;
        }
    }
}
