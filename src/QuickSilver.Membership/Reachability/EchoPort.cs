using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// The service's own answer to echoes, so that a node can be told from the network: who reaches neither the others nor this port is
// at fault itself. Opened when it is first needed, by an inquest or by an observer that is told its number, at the number of the service's
// TCP port, so that a firewall needs one rule; at any other where that is taken.
//
// A sealed echo is answered sealed, under the key of the cluster. One that is not is answered too, as observers have no key: a node that
// seals believes no such answer. Neither answer is longer than its question.
internal sealed class EchoPort(INodeEnvironment environment, string cluster, RegionKeys? keys = null)
    : IDatagramReceiver, ISubkeyBudget, IDisposable
{
    private const double DerivationsPerSecond = 1_000;
    // An answer goes to the address that the echo names, which anybody can write.
    private const double AnswersPerSecond = 1_000;

    private static readonly DatagramPortOptions Small = new()
    {
        ReceiveBufferBytes = 256 << 10,
        SendBufferBytes = 64 << 10,
        SegmentationOffload = false,
    };

    private readonly ulong _cluster = TopicId.Of(cluster);
    private IDatagramPort? _port;
    private ClusterSeals? _seals;
    private RateLimit? _derivations;
    private RateLimit? _answers;

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
        _seals?.Dispose();
    }

    bool ISubkeyBudget.TryTake() =>
        (_derivations ??= new RateLimit(environment.Now, DerivationsPerSecond, DerivationsPerSecond)).TryTake(environment.Now, 1);

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) => true;

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        var bytes = run.Lease.Span.Slice(run.Offset, run.Length);
        if (_port is null)
        {
            return;
        }

        if (keys is not null && SealedPacket.Validate(bytes, _cluster) == DropReason.None)
        {
            AnswerSealed(bytes[..new PacketHeader(bytes).Length]);
        }
        else if (PacketHeader.Validate(bytes, _cluster) == DropReason.None)
        {
            Span<byte> reply = stackalloc byte[EchoPacket.ReplyBytes];
            Answer(new PacketHeader(bytes), reply, seal: null, label: 0);
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private void AnswerSealed(Span<byte> packet)
    {
        _seals ??= new ClusterSeals(self: default, this);
        if (keys!.Cluster is { } newest)
        {
            _seals.Add(newest);
        }

        var header = new PacketHeader(packet);
        uint label = header.View;
        if (header.Region != 0 || _seals.Find(label) is not { } seal
            || seal.Opener.Open(packet, SealedPacket.SealerOf(packet)) != DropReason.None)
        {
            return;
        }

        Span<byte> reply = stackalloc byte[EchoPacket.ReplyBytes];
        Answer(header, reply, seal, label);
    }

    private void Answer(in PacketHeader echo, Span<byte> reply, KeySeal? seal, uint label)
    {
        _answers ??= new RateLimit(environment.Now, AnswersPerSecond, AnswersPerSecond);
        if (echo.Kind != PacketKind.Echo || EchoPacket.ReadAnswerTo(echo.Body) is not { } answerTo
            || !_answers.TryTake(environment.Now, 1))
        {
            return;
        }

        EchoPacket.WriteReply(reply, new PacketTemplate(_cluster, 0, 0, 0, 0), echo.Sequence);
        var to = new DatagramAddress(answerTo);
        if (seal is null)
        {
            _port!.Send(reply, reply.Length, to);
        }
        else
        {
            Span<byte> sealedReply = stackalloc byte[EchoPacket.ReplyBytes + SealedPacket.TrailerBytes];
            seal.Sealer.Seal(reply, reply.Length, sealedReply, label);
            _port!.Send(sealedReply, sealedReply.Length, to);
        }

        Answered++;
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
