using System.Diagnostics;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Environment;

// I17: nothing grows per packet.
public sealed class MachineEnvironmentTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_steady_stream_allocates_nothing_on_the_core_thread(bool segmentationOffload)
    {
        using var node = new MachineNode(segmentationOffload: segmentationOffload);
        var stream = new SelfStream(node.Environment, LoopbackGroup.Next());
        node.Do(stream.Open);
        // Until the code is warm and every queue has its size.
        stream.RunUntil(datagrams: 200_000);

        long before = node.Do(() => GC.GetAllocatedBytesForCurrentThread());
        // The requests of the measure itself.
        node.Do(() => { });
        long requests = node.Do(() => GC.GetAllocatedBytesForCurrentThread()) - before;
        before = node.Do(() => GC.GetAllocatedBytesForCurrentThread());
        stream.RunUntil(datagrams: 300_000);
        long allocated = node.Do(() => GC.GetAllocatedBytesForCurrentThread()) - before;

        // A collection that other tests bring about costs a thread what is left of its allocation quantum, 8 KB, and each counts as
        // allocated. A single object per hundred datagrams would be more.
        Assert.InRange(allocated, 0, requests + (64 << 10));
        node.Do(() => stream.IsOver = true);
    }

    [Fact]
    public void The_end_closes_everything_amid_load()
    {
        for (int round = 0; round < 5; round++)
        {
            var node = new MachineNode();
            var stream = new SelfStream(node.Environment, LoopbackGroup.Next());
            var port = node.Do(stream.Open);
            stream.RunUntil(datagrams: 1000);
            using var stop = new CancellationTokenSource();
            var poster = Task.Run(() =>
            {
                while (!stop.IsCancellationRequested)
                {
                    node.Environment.Post(new ActionRequest(() => { }));
                }
            });

            node.Dispose();
            node.Dispose();
            stop.Cancel();
            Patience.Until(() => poster.IsCompletedSuccessfully, "the poster, unharmed");
            Assert.Equal(0, node.Environment.Buffers.LeasedBlocks);
            Assert.Equal(SendOutcome.Refused, port.Send([1], 1, new DatagramAddress(port.LocalEndPoint)));
            Assert.True(node.Log.Has(1011));
        }
    }

    [Fact]
    public void Requests_posted_before_the_end_run_and_later_ones_are_dropped()
    {
        var node = new MachineNode();
        int done = 0;
        using var hold = new ManualResetEventSlim();
        node.Environment.Post(new ActionRequest(() => hold.Wait(Patience.Limit)));
        for (int i = 0; i < 1000; i++)
        {
            node.Environment.Post(new ActionRequest(() => done++));
        }

        hold.Set();
        node.Dispose();
        Assert.Equal(1000, done);
        node.Environment.Post(new ActionRequest(() => done++));
        Assert.Equal(1000, done);
    }

    [Fact]
    public void A_node_may_end_itself()
    {
        var node = new MachineNode();
        node.Environment.Post(new ActionRequest(node.Dispose));
        Patience.Until(() => node.Log.Has(1011), "the end");
        node.Dispose();
    }

    [Fact]
    public void Time_runs_forward_and_at_the_pace_of_the_clock()
    {
        using var node = new MachineNode();
        var outer = Stopwatch.StartNew();
        var first = node.Environment.Now;
        var inner = Stopwatch.StartNew();
        SpinWait.SpinUntil(() => inner.Elapsed > TimeSpan.FromMilliseconds(5));
        var atLeast = inner.Elapsed;
        var passed = node.Environment.Now - first;
        Assert.InRange(passed, atLeast - TimeSpan.FromMicroseconds(1), outer.Elapsed + TimeSpan.FromMicroseconds(1));
    }

    [Fact]
    public void Nodes_draw_different_numbers_and_equal_seeds_the_same()
    {
        using var one = new MachineNode();
        using var two = new MachineNode();
        Assert.NotEqual(one.Do(() => one.Environment.NextRandom()), two.Do(() => two.Environment.NextRandom()));
        Assert.NotEqual(Secret(), Secret());

        byte[] Secret()
        {
            byte[] secret = new byte[32];
            one.Environment.FillSecret(secret);
            return secret;
        }

        var first = new RandomStream(1);
        var second = new RandomStream(1);
        var other = new RandomStream(2);
        var numbers = Enumerable.Range(0, 1000).Select(_ => first.Next()).ToArray();
        Assert.Equal(numbers, Enumerable.Range(0, 1000).Select(_ => second.Next()));
        Assert.NotEqual(numbers[0], other.Next());
        Assert.Equal(1000, numbers.Distinct().Count());
        // Each bit is set about half of the time: 500 of 1000, give or take six deviations.
        for (int bit = 0; bit < 64; bit++)
        {
            Assert.InRange(numbers.Count(number => (number >> bit & 1) != 0), 405, 595);
        }
    }

    [Fact]
    public void Without_packet_memory_the_node_still_does_its_other_work_and_recovers()
    {
        using var node = new MachineNode(bufferBytes: 4 * Core.Buffers.SlabPool.BlockBytes);
        var kept = new List<Core.Buffers.Lease>();
        bool isKeeping = true;
        var receiver = new RecordingReceiver
        {
            OnEach = run =>
            {
                if (isKeeping)
                {
                    run.Lease.AddClaim();
                    kept.Add(run.Lease);
                }
            },
        };
        var port = node.Do(() => node.Environment.OpenPort(new DatagramPortOptions(), receiver));
        var to = new DatagramAddress(port.LocalEndPoint);
        node.Do(() =>
        {
            for (int i = 0; i < 8; i++)
            {
                port.Send(new byte[60_000], 60_000, to);
            }
        });

        Patience.Until(() => node.Environment.Counters.PoolExhaustions > 2, "the exhaustion");
        Assert.InRange(receiver.Runs.Length, 1, 4);
        bool fired = false;
        node.Do(() => node.Environment.Schedule(new Alarm(() => fired = true), TimeSpan.FromMilliseconds(1)));
        Patience.Until(() => node.Do(() => fired), "an alarm meanwhile");

        node.Do(() =>
        {
            isKeeping = false;
            kept.ForEach(lease => lease.Release());
        });
        Patience.Until(() => receiver.Runs.Length == 8, "what the kernel had kept");
    }

    // A node that sends runs to a group of which it is a member: the next when the one before has arrived.
    private sealed class SelfStream(MachineEnvironment environment, LoopbackGroup group) : IDatagramReceiver
    {
        private const int DatagramBytes = 1000;
        private const int DatagramsPerRun = 20;
        private readonly byte[] _run = new byte[DatagramBytes * DatagramsPerRun];
        private readonly DatagramAddress _to = new(group.EndPoint);
        private Alarm? _sendNext;
        private IDatagramPort? _port;
        private long _received;
        private long _batchBytes;

        public bool IsOver { get; set; }

        public IDatagramPort Open()
        {
            environment.OpenPort(new DatagramPortOptions { Group = group.Address, Port = group.Port }, this);
            _port = environment.OpenPort(new DatagramPortOptions { Receives = false }, this);
            _sendNext = new Alarm(Send);
            environment.Schedule(_sendNext, TimeSpan.Zero);
            return _port;
        }

        public void RunUntil(long datagrams) =>
            Patience.Until(() => Volatile.Read(ref _received) >= datagrams, $"{datagrams} datagrams");

        public bool IsControl(ReadOnlySpan<byte> firstBytes) => firstBytes[0] == RecordingReceiver.ControlMark;

        public void OnRun(in ReceivedRun run)
        {
            run.Lease.AddClaim();
            _batchBytes += run.Span.Length;
            _received += run.Length / DatagramBytes;
            run.Lease.Release();
        }

        public void OnBatchEnd()
        {
            if (_batchBytes >= _run.Length && !IsOver)
            {
                _batchBytes -= _run.Length;
                // Through the alarm, so that alarms are part of the path that is measured.
                environment.Schedule(_sendNext!, TimeSpan.Zero);
            }
        }

        private void Send() => _port!.Send(_run, DatagramBytes, _to);
    }
}
