using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// One datagram that was sent.
internal sealed record SentPacket(byte[] Bytes, IPEndPoint To)
{
    public PacketKind Kind => new PacketHeader(Bytes).Kind;

    public PacketFlags Flags => new PacketHeader(Bytes).Flags;

    public byte StreamClass => new PacketHeader(Bytes).StreamClass;

    public long Sequence => new PacketHeader(Bytes).Sequence;

    public ReadOnlySpan<byte> Body => new PacketHeader(Bytes).Body;
}

// A port that keeps what is sent through it, datagram by datagram.
internal sealed class RecordingPort : IDatagramPort
{
    private readonly List<SentPacket> _sent = [];

    public IPEndPoint LocalEndPoint { get; } = new(IPAddress.Loopback, 9);

    public int MaxRunSegments { get; init; } = 64;

    public long KernelDrops { get; set; }

    public int ReceiveBufferBytes => 8 << 20;

    /// <summary>What the system says to each send.</summary>
    public SendOutcome Outcome { get; set; } = SendOutcome.Sent;

    public bool Has(PacketKind kind) => _sent.Exists(packet => packet.Kind == kind);

    /// <summary>Datagrams of the kind that were sent since they were last taken.</summary>
    public List<SentPacket> Take(PacketKind kind)
    {
        var taken = _sent.FindAll(packet => packet.Kind == kind);
        _sent.RemoveAll(packet => packet.Kind == kind);
        return taken;
    }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        if (Outcome == SendOutcome.Sent)
        {
            for (; run.Length > 0; run = run[Math.Min(segmentBytes, run.Length)..])
            {
                _sent.Add(new SentPacket(run[..Math.Min(segmentBytes, run.Length)].ToArray(), destination.EndPoint));
            }
        }

        return Outcome;
    }

    public bool IsClosed { get; private set; }

    public void Dispose() => IsClosed = true;
}
