using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Network;

// A datagram socket. What arrives waits in its receive buffer, bounded as a kernel bounds it, until a turn of the core thread takes it in.
internal sealed class SimulatedPort : PortSource, IDatagramPort
{
    public const int MaxRunBytes = 65_507;
    internal const int MaxSegments = 64;
    // What a kernel accounts for a datagram beyond its bytes.
    private const int BookkeepingBytes = 256;

    private readonly DatagramPortOptions _options;
    // What has arrived. Null until the first datagram: some ports only send, and most nodes of a large cluster are idle.
    private Queue<FlightSegments>? _inbox;
    private long _bufferedBytes;
    private bool _closed;

    internal SimulatedPort(ISimulatedLife life, DatagramPortOptions options, IPEndPoint local, IDatagramReceiver receiver)
        : base(receiver)
    {
        Life = life;
        _options = options;
        LocalEndPoint = local;
        Address = Destination.Of(local.Address, local.Port);
    }

    public IPEndPoint LocalEndPoint { get; }

    public override IDatagramPort Port => this;

    public override bool IsClosed => _closed;

    public int MaxRunSegments => _options.SegmentationOffload && Life.Node.Model.SegmentationOffload ? MaxSegments : 1;

    public long KernelDrops { get; private set; }

    public int ReceiveBufferBytes =>
        _options.Receives ? Math.Min(_options.ReceiveBufferBytes, Life.Node.Model.ReceiveBufferLimitBytes ?? int.MaxValue) : 0;

    /// <summary>Sends that the system refused, and sends for which it had no room.</summary>
    public long RefusedSends { get; private set; }

    public long BusySends { get; private set; }

    internal ISimulatedLife Life { get; }

    internal bool HasDatagrams => _inbox is { Count: > 0 };

    internal Destination Address { get; }

    /// <summary>The next of the ports that were opened at this address.</summary>
    internal SimulatedPort? NextAtAddress { get; set; }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(segmentBytes);
        Life.Cluster.Time.CheckThread();
        int segments = (run.Length + segmentBytes - 1) / segmentBytes;
        // As a socket of IPv4 does, which is what the port is. Others write the addresses to which answers go.
        bool isReachable = destination.EndPoint.AddressFamily == AddressFamily.InterNetwork;
        if (_closed || !isReachable || segments == 0 || segments > MaxRunSegments || run.Length > MaxRunBytes)
        {
            RefusedSends++;
            return SendOutcome.Refused;
        }

        var network = Life.Cluster.Network;
        bool toItself = destination.EndPoint.Address.Equals(Life.LocalAddress) || IPAddress.IsLoopback(destination.EndPoint.Address);
        if (network.Random.Chance(Life.Node.Model.SendBusyProbability) || !Life.TrySend(run.Length, segments, toItself, out var leaves))
        {
            BusySends++;
            network.Disturbed += segments;
            return SendOutcome.Busy;
        }

        if (Life.Refusal(SystemCalls.Send) is not null)
        {
            RefusedSends++;
            network.Disturbed += segments;
            return SendOutcome.Refused;
        }

        network.Send(Life.Node, run, segmentBytes, Destination.Of(destination.EndPoint.Address, destination.EndPoint.Port), leaves);
        return SendOutcome.Sent;
    }

    public void Dispose()
    {
        if (_closed)
        {
            return;
        }

        _closed = true;
        Life.Endpoints.Remove(this);
        while (_inbox is not null && _inbox.TryDequeue(out var run))
        {
            run.Flight.Release();
        }

        _bufferedBytes = 0;
    }

    // Borrows the segments; what it keeps it claims.
    internal void Enqueue(in FlightSegments segments)
    {
        if (!_options.Receives || _closed)
        {
            return;
        }

        var random = Life.Cluster.Network.Random;
        int count = segments.Count;
        int largest = _options.SegmentationOffload && random.Chance(Life.Node.Model.CoalesceProbability) ? MaxSegments : 1;
        for (int first = 0; first < count;)
        {
            int together = largest == 1 ? 1 : 1 + random.Below(count - first);
            Buffer(segments.Part(first, Math.Min(together, count - first)));
            first += together;
        }

        if (HasDatagrams)
        {
            Life.OnReadable(this);
        }
    }

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (_inbox is null || !_inbox.TryPeek(out var run))
        {
            return TakeOutcome.Nothing;
        }

        PlacedRun placed;
        if (run.Flight.TryShare(run.Offset, out int offset) is { } lease)
        {
            placed = new PlacedRun(lease, offset, run.Length);
        }
        else if (!memory.TryPlace(run.Span, out placed))
        {
            return TakeOutcome.NoMemory;
        }

        completion = new Completion(this, placed with { Datagrams = run.Count });
        Life.Trace(TraceKind.Datagrams, run.Flight.HashOf(run));
        _inbox.Dequeue();
        _bufferedBytes -= run.Length + BookkeepingBytes;
        run.Flight.Release();
        return TakeOutcome.Taken;
    }

    private void Buffer(in FlightSegments run)
    {
        // As Linux does: what finds any room is let in whole.
        if (_bufferedBytes >= ReceiveBufferBytes)
        {
            KernelDrops += run.Count;
            Life.Cluster.Network.Disturbed += run.Count;
            return;
        }

        run.Flight.AddClaim();
        _bufferedBytes += run.Length + BookkeepingBytes;
        (_inbox ??= new Queue<FlightSegments>()).Enqueue(run);
    }
}
