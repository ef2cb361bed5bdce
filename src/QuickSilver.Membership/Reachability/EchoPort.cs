using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// The service's own answer to echoes, so that a node can be told from the network: who reaches neither the others nor this port is
// at fault itself. Opened when it is first needed, by an inquest or by an observer that is told its number, at the number of the service's
// TCP port, so that a firewall needs one rule; at any other where that is taken.
internal sealed class EchoPort(INodeEnvironment environment, string cluster) : IDatagramReceiver, IDisposable
{
    private static readonly DatagramPortOptions Small = new()
    {
        ReceiveBufferBytes = 256 << 10,
        SendBufferBytes = 64 << 10,
        SegmentationOffload = false,
    };

    private readonly ulong _cluster = TopicId.Of(cluster);
    private IDatagramPort? _port;

    public long Answered { get; private set; }

    /// <summary>The number of the port; 0 when the system gives none.</summary>
    public int Open(int wanted)
    {
        _port ??= TryOpen(wanted) ?? TryOpen(0);
        return _port?.LocalEndPoint.Port ?? 0;
    }

    public void Dispose()
    {
        _port?.Dispose();
        _port = null;
    }

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) => true;

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        var bytes = run.Span;
        if (_port is null || PacketHeader.Validate(bytes, _cluster) != DropReason.None)
        {
            return;
        }

        var header = new PacketHeader(bytes);
        if (header.Kind == PacketKind.Echo && EchoPacket.ReadAnswerTo(header.Body) is { } answerTo)
        {
            Span<byte> reply = stackalloc byte[EchoPacket.ReplyBytes];
            EchoPacket.WriteReply(reply, new PacketTemplate(_cluster, 0, 0, 0, 0), header.Sequence);
            _port.Send(reply, reply.Length, new DatagramAddress(answerTo));
            Answered++;
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private IDatagramPort? TryOpen(int number)
    {
        try
        {
            return environment.OpenPort(Small with { Port = number }, this);
        }
        catch (TransportException)
        {
            // The next round asks again; without it two members alone cannot tell which of them is at fault.
            return null;
        }
    }
}
