using System.Net;
using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Transport;

internal enum SendOutcome
{
    Sent,
    // The system has no room now (EAGAIN, ENOBUFS, ENOMEM): nothing was sent, try later.
    Busy,
    // Refused (unreachable, too large, closed): counted by the port; the datagram is lost like any other loss.
    Refused,
}

// A destination with its socket address computed once, when first it is sent to.
internal sealed class DatagramAddress(IPEndPoint endPoint)
{
    public IPEndPoint EndPoint { get; } = endPoint;
    public SocketAddress SocketAddress => field ??= EndPoint.Serialize();
    public override string ToString() => EndPoint.ToString();
}

// What a port is opened for. Group null: a unicast port bound to LocalAddress (Port 0: any free one). Group set: a port
// that receives what is sent to that group and port, and nothing else.
internal sealed record DatagramPortOptions
{
    public IPAddress? Group { get; init; }
    public int Port { get; init; }
    public int ReceiveBufferBytes { get; init; } = 8 << 20;
    public int SendBufferBytes { get; init; } = 4 << 20;
    // False: the port only sends, and no receive buffer is kept for it.
    public bool Receives { get; init; } = true;
    // A send that the interface's queue has no room for is reported as Busy; as a rule the system drops it and says nothing. For
    // ports that send to groups: towards a host, the answer "port unreachable" to one send would refuse the next.
    public bool ReportsFullQueue { get; init; }
    // False forces single datagrams both ways, as where the kernel lacks the offload.
    public bool SegmentationOffload { get; init; } = true;
}

internal interface IDatagramPort : IDisposable
{
    IPEndPoint LocalEndPoint { get; }

    /// <summary>Datagrams per run at most: 1 where segmentation offload is missing, was refused or is off.</summary>
    int MaxRunSegments { get; }

    /// <summary>Sends one buffer as a run of datagrams of <paramref name="segmentBytes"/> each (the last may be shorter).</summary>
    SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination);

    /// <summary>Datagrams the kernel dropped at this port's full receive buffer, since it was opened.</summary>
    long KernelDrops { get; }

    /// <summary>What the kernel gave of the receive buffer asked for, in bytes as it accounts them.</summary>
    int ReceiveBufferBytes { get; }

    /// <summary>
    /// The part of the receive buffer, in bytes of datagrams of this size, that has room for what waits there as it came lately: less where
    /// the system does not join the datagrams of a run and charges each by itself.
    /// </summary>
    long RoomFor(int datagramBytes) => ReceiveBufferBytes;
}

// One receive: bytes [Offset, Offset + Length) of Memory hold one datagram, or several that came coalesced. A packet's
// header states its own length, so the reader splits them. The lease is the caller's: a receiver that keeps bytes adds a claim.
internal readonly struct ReceivedRun(Lease lease, int offset, int length, IDatagramPort port)
{
    public Lease Lease { get; } = lease;
    public int Offset { get; } = offset;
    public int Length { get; } = length;
    public IDatagramPort Port { get; } = port;
    public ReadOnlySpan<byte> Span => Lease.Span.Slice(Offset, Length);
}

internal interface IDatagramReceiver
{
    /// <summary>The class of a run, read from its first header; decides which priority queue it waits in.</summary>
    bool IsControl(ReadOnlySpan<byte> firstBytes);

    /// <summary>Whether a run that is not control brings packets again that were lost: it goes before new ones.</summary>
    bool IsRepair(ReadOnlySpan<byte> firstBytes) => false;

    void OnRun(in ReceivedRun run);

    /// <summary>Called after a batch of runs was handed over and before the core thread turns to alarms.</summary>
    void OnBatchEnd();
}

internal sealed class TransportException(string message, Exception? inner = null) : IOException(message, inner);
