using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// A datagram socket. What arrives waits in its receive buffer, bounded as a kernel bounds it, until the core thread
// drains it: a batch at a time, control runs before data runs, as the loop on a machine does.
internal sealed class SimulatedPort : NodeEvent, IDatagramPort
{
    public const int MaxRunBytes = 65_507;
    internal const int MaxSegments = 64;
    private const int MaxBatchRuns = 64;
    // What a kernel accounts for a datagram beyond its bytes.
    private const int BookkeepingBytes = 256;

    private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(1);

    private readonly DatagramPortOptions _options;
    private readonly IDatagramReceiver _receiver;
    // Null until the first datagram: some ports only send, and most nodes of a large cluster are idle.
    private Inbox? _inbox;
    private long _bufferedBytes;
    private bool _drainScheduled;
    private bool _closed;

    internal SimulatedPort(SimulatedEnvironment life, DatagramPortOptions options, IPEndPoint local, IDatagramReceiver receiver)
        : base(life)
    {
        _options = options;
        _receiver = receiver;
        LocalEndPoint = local;
        Address = Destination.Of(local.Address, local.Port);
    }

    public IPEndPoint LocalEndPoint { get; }

    public int MaxRunSegments => _options.SegmentationOffload && Life.Node.Model.SegmentationOffload ? MaxSegments : 1;

    public long KernelDrops { get; private set; }

    public int ReceiveBufferBytes =>
        _options.Receives ? Math.Min(_options.ReceiveBufferBytes, Life.Node.Model.ReceiveBufferLimitBytes ?? int.MaxValue) : 0;

    /// <summary>Sends that the system refused, and sends for which it had no room.</summary>
    public long RefusedSends { get; private set; }

    public long BusySends { get; private set; }

    internal Destination Address { get; }

    /// <summary>The next of the ports that were opened at this address.</summary>
    internal SimulatedPort? NextAtAddress { get; set; }

    public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(segmentBytes);
        Life.Cluster.Time.CheckThread();
        int segments = (run.Length + segmentBytes - 1) / segmentBytes;
        if (_closed || segments == 0 || segments > MaxRunSegments || run.Length > MaxRunBytes)
        {
            RefusedSends++;
            return SendOutcome.Refused;
        }

        var network = Life.Cluster.Network;
        if (network.Random.Chance(Life.Node.Model.SendBusyProbability) || !Life.TrySend(run.Length, segments, out var leaves))
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
        _inbox?.Empty();
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

        ScheduleDrain(TimeSpan.Zero);
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
        (_inbox ??= new Inbox()).Buffer.Enqueue(run);
    }

    private void ScheduleDrain(TimeSpan delay)
    {
        if (!_drainScheduled && !_closed && _inbox is { IsEmpty: false })
        {
            _drainScheduled = true;
            Life.Cluster.Time.After(delay, this);
        }
    }

    internal override TraceKind Kind => TraceKind.PortDrain;

    // Drains it.
    internal override void Execute()
    {
        _drainScheduled = false;
        if (_closed)
        {
            return;
        }

        var inbox = _inbox!;
        Classify(inbox);
        bool hadMemory = HandUp(inbox.Control) && HandUp(inbox.Data);
        if (!_closed)
        {
            _receiver.OnBatchEnd();
        }

        ScheduleDrain(hadMemory ? TimeSpan.Zero : RetryDelay);
    }

    private void Classify(Inbox inbox)
    {
        for (int room = MaxBatchRuns - inbox.Control.Count - inbox.Data.Count; room > 0 && inbox.Buffer.TryDequeue(out var run); room--)
        {
            _bufferedBytes -= run.Length + BookkeepingBytes;
            (_receiver.IsControl(run.Span) ? inbox.Control : inbox.Data).Enqueue(run);
        }
    }

    // False: the pool is exhausted, and the rest must wait.
    private bool HandUp(Queue<FlightSegments> queue)
    {
        while (!_closed && queue.TryPeek(out var run))
        {
            if ((run.Flight.TryShare(run.Offset, out int offset) ?? Life.Intake.TryPlace(run.Span, out offset)) is not { } lease)
            {
                return false;
            }

            queue.Dequeue();
            Life.Trace(TraceKind.Datagrams, run.Flight.HashOf(run));
            var model = Life.Node.Model;
            Life.Spend(((model.CostPerDatagram + Life.Node.Faults.Slowness) * run.Count) + (model.CostPerKilobyte * (run.Length / 1000.0)));
            _receiver.OnRun(new ReceivedRun(lease, offset, run.Length, this));
            lease.Release();
            run.Flight.Release();
        }

        return true;
    }

    // What has arrived, and of it what the present batch is.
    private sealed class Inbox
    {
        public Queue<FlightSegments> Buffer { get; } = new();

        public Queue<FlightSegments> Control { get; } = new();

        public Queue<FlightSegments> Data { get; } = new();

        public bool IsEmpty => Buffer.Count + Control.Count + Data.Count == 0;

        public void Empty()
        {
            Empty(Buffer);
            Empty(Control);
            Empty(Data);
        }

        private static void Empty(Queue<FlightSegments> queue)
        {
            while (queue.TryDequeue(out var run))
            {
                run.Flight.Release();
            }
        }
    }
}
