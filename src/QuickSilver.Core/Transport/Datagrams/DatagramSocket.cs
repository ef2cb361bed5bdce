using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Transport.Datagrams;

// A datagram port over a managed UDP socket. The socket is opened and set with managed calls; what happens per datagram
// goes through IDatagramCalls, which neither throws nor allocates. Used on the core thread only.
[DebuggerDisplay("{LocalEndPoint}")]
internal sealed class DatagramSocket : IDatagramPort
{
    // How many of the last receives decide whether runs are joined.
    private const float ReceivesInMean = 16;

    private readonly IDatagramCalls _calls;
    private readonly CoreCounters _counters;
    private readonly ILogger _logger;
    private int _segmentBytes;
    private uint _dropsSeen;
    private long _kernelDrops;
    private float _meanReceive;

    internal DatagramSocket(Socket socket, IPEndPoint localEndPoint, IDatagramCalls calls, CoreCounters counters, ILogger logger)
    {
        Socket = socket;
        LocalEndPoint = localEndPoint;
        _calls = calls;
        _counters = counters;
        _logger = logger;
    }

    /// <summary>Called once, before the socket closes: the poller must forget it while it still is one.</summary>
    public Action<DatagramSocket>? Closing { get; set; }

    public Socket Socket { get; }

    public IPEndPoint LocalEndPoint { get; }

    public int MaxRunSegments { get; internal set; } = 1;

    /// <summary>Whether the kernel hands over runs joined again.</summary>
    public bool ReceivesRuns { get; internal set; }

    public int ReceiveBufferBytes { get; internal set; }

    /// <summary>Null where the system needs no second request.</summary>
    internal InterfacePlace? Place { get; init; }

    public bool IsClosed { get; private set; }

    public long KernelDrops
    {
        get
        {
            if (!IsClosed)
            {
                uint drops = SocketBuffers.Drops(Socket);
                _kernelDrops += drops - _dropsSeen;
                _dropsSeen = drops;
            }

            return _kernelDrops;
        }
    }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(segmentBytes, 1);
        if (IsClosed)
        {
            return Refuse(run.Length, segmentBytes);
        }

        // One call takes the whole run as a rule. What is longer than one call takes, and every run once the system has
        // refused one, goes in pieces.
        bool isAnySent = false;
        // More than one: a run of so many was refused, and it is not known yet whether one datagram goes.
        int refusedSegments = 1;
        while (!run.IsEmpty)
        {
            int most = SegmentationOffload.RunBytes(segmentBytes, MaxRunSegments, LocalEndPoint.AddressFamily);
            var piece = run[..Math.Min(run.Length, most)];
            switch (SendPiece(piece, segmentBytes, destination))
            {
                case CallOutcome.Done:
                    _counters.DatagramsSent += Datagrams(piece.Length, segmentBytes);
                    _counters.BytesSent += piece.Length;
                    isAnySent = true;
                    if (refusedSegments > 1)
                    {
                        refusedSegments = 1;
                        CoreLog.RunRefused(_logger, LocalEndPoint, destination, segmentBytes);
                    }

                    break;
                case CallOutcome.Busy when !isAnySent:
                    MaxRunSegments = Math.Max(MaxRunSegments, refusedSegments);
                    _counters.BusySends++;
                    return SendOutcome.Busy;
                case CallOutcome.Busy:
                    MaxRunSegments = Math.Max(MaxRunSegments, refusedSegments);
                    // Part of the run is out, so "nothing was sent" would be a lie: the rest is lost like any other loss.
                    Refuse(run.Length, segmentBytes);
                    return SendOutcome.Sent;
                case CallOutcome.Unfit when piece.Length > segmentBytes:
                    refusedSegments = MaxRunSegments;
                    MaxRunSegments = 1;
                    continue;
                case not CallOutcome.Done when refusedSegments > 1:
                    // Not the run's shape is refused but the send, as while the interface is gone: runs are for later.
                    MaxRunSegments = refusedSegments;
                    Refuse(run.Length, segmentBytes);
                    return isAnySent ? SendOutcome.Sent : SendOutcome.Refused;
                default:
                    Refuse(piece.Length, segmentBytes);
                    break;
            }

            run = run[piece.Length..];
        }

        return isAnySent ? SendOutcome.Sent : SendOutcome.Refused;
    }

    /// <summary>Receives one datagram or run into the lease; its length, or what IDatagramCalls answers.</summary>
    public int TryReceive(Lease lease, int offset, int maxBytes)
    {
        if (IsClosed)
        {
            return IDatagramCalls.NothingWaits;
        }

        int received = _calls.Receive(lease.Span.Slice(offset, maxBytes));
        if (received >= 0)
        {
            CountRun(received);
        }
        else if (received != IDatagramCalls.NothingWaits)
        {
            CountError();
        }

        return received;
    }

    public long RoomFor(int datagramBytes) => OperatingSystem.IsLinux() && _meanReceive <= datagramBytes
        ? DatagramCharge.Room(ReceiveBufferBytes, datagramBytes)
        : ReceiveBufferBytes;

    internal void CountRun(int bytes)
    {
        _meanReceive += (bytes - _meanReceive) / ReceivesInMean;
        _counters.RunsReceived++;
        _counters.BytesReceived += bytes;
    }

    internal void CountError() => _counters.ReceiveErrors++;

    public void Dispose()
    {
        if (IsClosed)
        {
            return;
        }

        _ = KernelDrops;
        Closing?.Invoke(this);
        IsClosed = true;
        Socket.Dispose();
    }

    /// <summary>Binds the port to its interface again, in case that is another one of the same address now.</summary>
    public void Renew()
    {
        if (!IsClosed && Place is { } place && OperatingSystem.IsLinux() && place.Renew())
        {
            CoreLog.MembershipRenewed(_logger, LocalEndPoint);
        }
    }

    public override string ToString() => $"port {LocalEndPoint}";

    private CallOutcome SendPiece(ReadOnlySpan<byte> piece, int segmentBytes, DatagramAddress destination)
    {
        // A piece of one segment goes whole under any setting that is not smaller than itself.
        int wanted = piece.Length > segmentBytes ? segmentBytes : _segmentBytes >= piece.Length ? _segmentBytes : 0;
        if (wanted != _segmentBytes)
        {
            if (!_calls.TrySetSegmentBytes(wanted))
            {
                return CallOutcome.Unfit;
            }

            _segmentBytes = wanted;
        }

        return _calls.Send(piece, destination);
    }

    private SendOutcome Refuse(int bytes, int segmentBytes)
    {
        _counters.RefusedSends += Datagrams(bytes, segmentBytes);
        return SendOutcome.Refused;
    }

    private static int Datagrams(int bytes, int segmentBytes) => (bytes + segmentBytes - 1) / segmentBytes;
}
