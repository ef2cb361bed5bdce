using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Loop;

// I17 (memory is bounded), F13.
public sealed class CompletionIntakeTests : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
    private readonly CoreCounters _counters = new();
    private readonly LogRecorder _log = new();
    private readonly PriorityQueues _queues = new();
    private readonly ScriptedCalls _calls = new();
    private readonly PortSource _source;

    public CompletionIntakeTests()
    {
        var port = new DatagramSocket(_socket, new IPEndPoint(IPAddress.Loopback, 1), _calls, _counters, _log);
        _source = new ReadPortSource(port, new RecordingReceiver());
    }

    public void Dispose() => _socket.Dispose();

    [Fact]
    public void Small_runs_share_a_block_each_at_its_own_aligned_place()
    {
        var pool = new SlabPool(1 << 20);
        var intake = NewIntake(pool);
        Bring(100, 0, 65, 1472);

        Assert.Equal(4, intake.Take(_source));
        var works = TakeAll();
        Assert.Equal([100, 0, 65, 1472], works.Select(work => work.Completion.Run.Length));
        Assert.Equal([0, 128, 128, 256], works.Select(work => work.Completion.Run.Offset));
        Assert.Single(works.Select(work => work.Completion.Run.Lease).Distinct());
        Assert.All(works.Index(), entry => AssertBytes(entry.Item, entry.Index));
        Assert.Equal(2, pool.LeasedBlocks);
    }

    [Fact]
    public void A_long_run_goes_up_as_it_lies()
    {
        var pool = new SlabPool(1 << 20);
        var intake = NewIntake(pool);
        Bring(60_000, 60_000, 10);
        intake.Take(_source);
        var works = TakeAll();
        Assert.Equal(3, works.Select(work => work.Completion.Run.Lease).Distinct().Count());
        Assert.All(works.Index(), entry => AssertBytes(entry.Item, entry.Index));
    }

    [Fact]
    public void Memory_in_which_nothing_is_kept_is_used_again_and_other_memory_is_not_touched()
    {
        var tracker = new LeaseTracker();
        var pool = new SlabPool(1 << 20) { Tracker = tracker };
        var intake = NewIntake(pool);
        var kept = new List<CoreWork>();
        for (int i = 0; i < 1000; i++)
        {
            Bring(5000, 20_000);
            intake.Take(_source);
            foreach (var work in TakeAll())
            {
                if (i % 250 == 0)
                {
                    kept.Add(work);
                }
                else
                {
                    work.Completion.Run.Lease.Release();
                }
            }
        }

        Assert.InRange(pool.LeasedBlocks, 1, 16);
        Assert.Equal(8, kept.Count);
        Assert.All(kept.Index(), entry => AssertBytes(entry.Item, entry.Index % 2));
        kept.ForEach(work => work.Completion.Run.Lease.Release());
        intake.Release();
        tracker.AssertAllReturned();
    }

    [Fact]
    public void Without_memory_what_waits_is_left_to_the_kernel_and_taken_when_there_is_some()
    {
        var pool = new SlabPool(2 * SlabPool.BlockBytes);
        var intake = NewIntake(pool);
        Bring(60_000, 60_000, 60_000);

        Assert.Equal(2, intake.Take(_source));
        Assert.True(intake.IsStarved);
        Assert.Equal(1, _counters.PoolExhaustions);
        Assert.True(_log.Has(1003));
        Assert.Equal(0, intake.Take(_source));

        TakeAll().ForEach(work => work.Completion.Run.Lease.Release());
        Assert.Equal(1, intake.Take(_source));
        Assert.False(intake.IsStarved);
    }

    [Fact]
    public void The_last_block_is_handed_up_rather_than_nothing()
    {
        var pool = new SlabPool(SlabPool.BlockBytes);
        var intake = NewIntake(pool);
        Bring(100);
        Assert.Equal(1, intake.Take(_source));
        var work = TakeAll().Single();
        AssertBytes(work, 0);
        work.Completion.Run.Lease.Release();
        Assert.Equal(0, pool.LeasedBlocks);
    }

    [Fact]
    public void A_socket_that_always_has_data_gets_only_its_turn()
    {
        var intake = NewIntake(new SlabPool(1 << 20));
        Bring([.. Enumerable.Repeat(10, 100)]);
        Assert.InRange(intake.Take(_source), 1, 50);
        Assert.NotEmpty(_calls.Incoming);
    }

    [Fact]
    public void Control_and_data_are_distinguished_by_their_receiver()
    {
        var intake = NewIntake(new SlabPool(1 << 20));
        _calls.Incoming.Enqueue([1]);
        _calls.Incoming.Enqueue([RecordingReceiver.ControlMark, 2]);
        intake.Take(_source);
        Assert.Equal((1, 1), (_queues.Count(WorkClass.InboundControl), _queues.Count(WorkClass.InboundData)));
        Assert.Equal([2, 1], TakeAll().Select(work => work.Completion.Run.Length));
    }

    [Fact]
    public void A_classifier_that_throws_is_counted_and_its_run_is_data()
    {
        var source = new ReadPortSource((DatagramSocket)_source.Port, new ThrowingClassifier());
        Bring(10);
        NewIntake(new SlabPool(1 << 20)).Take(source);
        Assert.Equal(1, _counters.HandlerExceptions);
        Assert.Equal(1, _queues.Count(WorkClass.InboundData));
        Assert.Contains(nameof(ThrowingClassifier), _log.TextOf(1020));
    }

    private CompletionIntake NewIntake(SlabPool pool) => new(pool, _queues, _counters, _log);

    private void Bring(params int[] lengths)
    {
        foreach (var (index, length) in lengths.Index())
        {
            var bytes = new byte[length];
            Array.Fill(bytes, (byte)(index + 1));
            _calls.Incoming.Enqueue(bytes);
        }
    }

    private List<CoreWork> TakeAll()
    {
        var works = new List<CoreWork>();
        while (_queues.TryDequeue(out var work))
        {
            works.Add(work);
        }

        return works;
    }

    private static void AssertBytes(CoreWork work, int index) =>
        Assert.Equal(-1, work.Completion.Run.Span.IndexOfAnyExcept((byte)(index + 1)));

    private sealed class ThrowingClassifier : IDatagramReceiver
    {
        public bool IsControl(ReadOnlySpan<byte> firstBytes) => throw new InvalidOperationException("planted");

        public void OnRun(in ReceivedRun run)
        {
        }

        public void OnBatchEnd()
        {
        }
    }
}
