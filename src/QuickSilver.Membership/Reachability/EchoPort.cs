using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Reachability;

// The service's own answer to echoes, which separates a fault of one node from a fault of the network: a node that reaches neither the
// others nor this port is faulty itself. The port opens when it is first needed, by an arbitration or for an observer. It has the number of
// the service's TCP port, so that a firewall needs one rule. If that number is taken, it has any other.
//
// A sealed echo is answered sealed, under the key of the cluster. One that is not is answered too, as observers have no key: a node that
// seals trusts no such answer. Neither answer is longer than its question.
//
// Invariant: a peer without the key uses up nothing that the answers to sealed echoes need, once a subkey of their sealer is kept. These
// echoes decide which members are removed.
internal sealed class EchoPort(INodeEnvironment environment, string cluster, ServiceCounters counters, RegionKeys? keys = null)
    : IDatagramReceiver, ISubkeyBudget, IDisposable
{
    // Spent on packets that may not be genuine, each time that a sealer is new.
    private const double DerivationsPerSecond = 1_000;
    // An answer goes to the address that the echo names, which any sender can write. So both have a limit: answers to sealed echoes, and
    // others.
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
    private RateLimit? _old;
    private RateLimit? _openAnswers;
    private RateLimit? _sealedAnswers;

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

    bool ISubkeyBudget.TryTakeOld() =>
        (_old ??= new RateLimit(environment.Now, ClusterSeals.OldPerSecond, ClusterSeals.OldPerSecond)).TryTake(environment.Now, 1);

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) => true;

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        var bytes = run.Lease.Span.Slice(run.Offset, run.Length);
        if (_port is null)
        {
            return;
        }

        var refused = keys is null ? DropReason.Unsealed : SealedPacket.Validate(bytes, _cluster);
        if (refused == DropReason.None)
        {
            refused = AnswerSealed(bytes[..new PacketHeader(bytes).Length]);
        }
        else if (refused == DropReason.Unsealed)
        {
            refused = AnswerOpen(bytes);
        }

        if (refused == DropReason.None)
        {
            counters.EchoesAnswered++;
        }
        else
        {
            counters.DropEcho(refused);
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private DropReason AnswerOpen(ReadOnlySpan<byte> packet)
    {
        var refused = PacketHeader.Validate(packet, _cluster);
        if (refused != DropReason.None)
        {
            return refused;
        }

        Span<byte> reply = stackalloc byte[EchoPacket.ReplyBytes];
        refused = TryReply(new PacketHeader(packet), reply, ref _openAnswers, out var to);
        if (refused == DropReason.None)
        {
            _port!.Send(reply, reply.Length, to!);
        }

        return refused;
    }

    private DropReason AnswerSealed(Span<byte> packet)
    {
        _seals ??= new ClusterSeals(self: default, this);
        if (keys!.Cluster is { } newest)
        {
            _seals.Add(newest);
        }

        var header = new PacketHeader(packet);
        uint label = header.View;
        if (header.Region != 0 || _seals.Find(label) is not { } seal)
        {
            return DropReason.UnknownKey;
        }

        var refused = _seals.Open(packet);
        if (refused != DropReason.None)
        {
            return refused;
        }

        Span<byte> reply = stackalloc byte[EchoPacket.ReplyBytes];
        refused = TryReply(header, reply, ref _sealedAnswers, out var to);
        if (refused == DropReason.None)
        {
            Span<byte> sealedReply = stackalloc byte[EchoPacket.ReplyBytes + SealedPacket.TrailerBytes];
            seal.Sealer.Seal(reply, reply.Length, sealedReply, label);
            _port!.Send(sealedReply, sealedReply.Length, to!);
        }

        return refused;
    }

    private DropReason TryReply(in PacketHeader echo, Span<byte> reply, ref RateLimit? answers, out DatagramAddress? to)
    {
        to = null;
        if (echo.Kind != PacketKind.Echo)
        {
            return DropReason.UnknownKind;
        }

        if (EchoPacket.ReadAnswerTo(echo.Body) is not { } answerTo)
        {
            return DropReason.Malformed;
        }

        answers ??= new RateLimit(environment.Now, AnswersPerSecond, AnswersPerSecond);
        if (!answers.TryTake(environment.Now, 1))
        {
            return DropReason.RateLimited;
        }

        to = new DatagramAddress(answerTo);
        EchoPacket.WriteReply(reply, new PacketTemplate(_cluster, 0, 0, 0, 0), echo.Sequence);
        return DropReason.None;
    }

    private IDatagramPort? TryOpen(int number)
    {
        try
        {
            return environment.OpenPort(Small with { Port = number }, this);
        }
        catch (TransportException)
        {
            // The next round asks again. Without it, it cannot be decided which of two lone members is faulty.
            return null;
        }
    }
}
