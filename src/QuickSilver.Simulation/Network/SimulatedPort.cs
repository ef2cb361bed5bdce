using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// A datagram socket. What arrives waits in its receive buffer, bounded as a kernel bounds it, until the core thread
// drains it: a batch at a time, control runs before data runs, as the loop on a machine does.
internal sealed class SimulatedPort : IDatagramPort
{
    public const int MaxRunBytes = 65_507;
    internal const int MaxSegments = 64;
    private const int MaxBatchRuns = 64;
    // What a kernel accounts for a datagram beyond its bytes.
    private const int BookkeepingBytes = 256;

    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(1);

    private readonly SimulatedEnvironment _life;
    private readonly DatagramPortOptions _options;
    private readonly IDatagramReceiver _receiver;
    private readonly Queue<FlightSegments> _buffer = new();
    private readonly Queue<FlightSegments> _control = new();
    private readonly Queue<FlightSegments> _data = new();
    private readonly DrainEvent _drain;
    private long _bufferedBytes;
    private bool _drainScheduled;
    private bool _closed;

    internal SimulatedPort(SimulatedEnvironment life, DatagramPortOptions options, IPEndPoint local, IDatagramReceiver receiver)
    {
        _life = life;
        _options = options;
        _receiver = receiver;
        LocalEndPoint = local;
        Address = Destination.Of(local.Address, local.Port);
        _drain = new DrainEvent(this);
    }

    public IPEndPoint LocalEndPoint { get; }

    public int MaxRunSegments => _options.SegmentationOffload && _life.Node.Model.SegmentationOffload ? MaxSegments : 1;

    public long KernelDrops { get; private set; }

    public int ReceiveBufferBytes =>
        _options.Receives ? Math.Min(_options.ReceiveBufferBytes, _life.Node.Model.ReceiveBufferLimitBytes ?? int.MaxValue) : 0;

    /// <summary>Sends that the system refused, and sends for which it had no room.</summary>
    public long RefusedSends { get; private set; }

    public long BusySends { get; private set; }

    internal Destination Address { get; }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(segmentBytes);
        _life.Cluster.Time.CheckThread();
        int segments = (run.Length + segmentBytes - 1) / segmentBytes;
        if (_closed || segments == 0 || segments > MaxRunSegments || run.Length > MaxRunBytes)
        {
            RefusedSends++;
            return SendOutcome.Refused;
        }

        var network = _life.Cluster.Network;
        if (network.Random.Chance(_life.Node.Model.SendBusyProbability) || !_life.TrySend(run.Length, segments, out var leaves))
        {
            BusySends++;
            network.Disturbed += segments;
            return SendOutcome.Busy;
        }

        network.Send(_life.Node, run, segmentBytes, Destination.Of(destination.EndPoint.Address, destination.EndPoint.Port), leaves);
        return SendOutcome.Sent;
    }

    public void Dispose()
    {
        if (_closed)
        {
            return;
        }

        _closed = true;
        _life.Endpoints.Remove(this);
        Empty(_buffer);
        Empty(_control);
        Empty(_data);
        _bufferedBytes = 0;
    }

    // Borrows the segments; what it keeps it claims.
    internal void Enqueue(in FlightSegments segments)
    {
        if (!_options.Receives || _closed)
        {
            return;
        }

        var random = _life.Cluster.Network.Random;
        int count = segments.Count;
        int largest = _options.SegmentationOffload && random.Chance(_life.Node.Model.CoalesceProbability) ? MaxSegments : 1;
        for (int first = 0; first < count;)
        {
            int together = largest == 1 ? 1 : 1 + random.Below(count - first);
            Buffer(segments.Part(first, Math.Min(together, count - first)));
            first += together;
        }

        ScheduleDrain(TimeSpan.Zero);
    }

    private void Buffer(in FlightSegments run)
    {
        // As Linux does: what finds any room is let in whole.
        if (_bufferedBytes >= ReceiveBufferBytes)
        {
            KernelDrops += run.Count;
            _life.Cluster.Network.Disturbed += run.Count;
            return;
        }

        run.Flight.AddClaim();
        _bufferedBytes += run.Length + BookkeepingBytes;
        _buffer.Enqueue(run);
    }

    private void ScheduleDrain(TimeSpan delay)
    {
        if (!_drainScheduled && !_closed && _buffer.Count + _control.Count + _data.Count > 0)
        {
            _drainScheduled = true;
            _life.Cluster.Time.After(delay, _drain);
        }
    }

    private void Drain()
    {
        _drainScheduled = false;
        if (_closed)
        {
            return;
        }

        Classify();
        bool hadMemory = HandUp(_control) && HandUp(_data);
        if (!_closed)
        {
            _receiver.OnBatchEnd();
        }

        ScheduleDrain(hadMemory ? TimeSpan.Zero : RetryDelay);
    }

    private void Classify()
    {
        for (int room = MaxBatchRuns - _control.Count - _data.Count; room > 0 && _buffer.TryDequeue(out var run); room--)
        {
            _bufferedBytes -= run.Length + BookkeepingBytes;
            (_receiver.IsControl(run.Span) ? _control : _data).Enqueue(run);
        }
    }

    // False: the pool is exhausted, and the rest must wait.
    private bool HandUp(Queue<FlightSegments> queue)
    {
        while (!_closed && queue.TryPeek(out var run))
        {
            if ((run.Flight.TryShare(run.Offset, out int offset) ?? _life.Intake.TryPlace(run.Span, out offset)) is not { } lease)
            {
                return false;
            }

            queue.Dequeue();
            _life.Trace(TraceKind.Datagrams, run.Flight.HashOf(run));
            var model = _life.Node.Model;
            _life.Spend(((model.CostPerDatagram + model.Slowness) * run.Count) + (model.CostPerKilobyte * (run.Length / 1000.0)));
            _receiver.OnRun(new ReceivedRun(lease, offset, run.Length, this));
            lease.Release();
            run.Flight.Release();
        }

        return true;
    }

    private static void Empty(Queue<FlightSegments> queue)
    {
        while (queue.TryDequeue(out var run))
        {
            run.Flight.Release();
        }
    }

    private sealed class DrainEvent(SimulatedPort port) : NodeEvent(port._life)
    {
        internal override TraceKind Kind => TraceKind.PortDrain;

        internal override void Execute() => port.Drain();
    }
}
