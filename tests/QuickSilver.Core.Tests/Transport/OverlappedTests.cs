using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Transport;

// Whose memory is whose while operations are under way, and what becomes of them at the end.
public sealed class OverlappedTests : IDisposable
{
    private readonly LeaseTracker _tracker = new();
    private readonly SlabPool _pool;
    private readonly RunMemory _memory;
    private readonly EmulatedPort _calls = new();
    private readonly CompletionPortPoller _poller;
    private readonly CoreCounters _counters = new();
    private readonly DatagramSocket _port;
    private readonly CompletionSource[] _named = new CompletionSource[8];

    public OverlappedTests()
    {
        _pool = new SlabPool(8 * SlabPool.BlockBytes) { Tracker = _tracker };
        _memory = new RunMemory(_pool);
        _poller = new CompletionPortPoller(_calls);
        _port = new DatagramSocketFactory(IPAddress.Loopback, segmentationOffload: false, _counters, new LogRecorder())
            .Open(new DatagramPortOptions());
    }

    public void Dispose()
    {
        _port.Dispose();
        _calls.Answers = true;
        _poller.Dispose();
        _memory.Release();
        _tracker.AssertAllReturned();
    }

    [Fact]
    public void Structures_have_the_sizes_and_offsets_of_the_system_headers()
    {
        Assert.SkipUnless(nint.Size == 8, "The offsets are those of 64 bits.");
        Assert.Equal(
            (32, 32, 16, 56),
            (Unsafe.SizeOf<OverlappedHeader>(), Unsafe.SizeOf<OverlappedEntry>(), Unsafe.SizeOf<BufferPart>(),
                Unsafe.SizeOf<OverlappedMessage>()));
        Assert.Equal([0, 8, 16, 20, 24], Offsets<OverlappedHeader>("Status", "Bytes", "Offset", "OffsetHigh", "Event"));
        Assert.Equal([0, 8, 16, 24], Offsets<OverlappedEntry>("Key", "Operation", "Status", "Bytes"));
        Assert.Equal([0, 8], Offsets<BufferPart>("Length", "Bytes"));
        Assert.Equal(
            [0, 8, 16, 24, 32, 48], Offsets<OverlappedMessage>("Name", "NameLength", "Parts", "PartCount", "Control", "Flags"));
    }

    [Fact]
    public void Blocks_under_way_are_given_back_at_their_ends_and_not_when_the_port_closes()
    {
        OpenAndBegin();
        Assert.Equal((2, 2), (_pool.LeasedBlocks, _poller.UnderWay));

        _calls.Answers = false;
        _port.Dispose();
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _named));
        Assert.Equal((2, 2), (_pool.LeasedBlocks, _poller.UnderWay));

        _calls.Answers = true;
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _named));
        Assert.Equal((0, 0), (_pool.LeasedBlocks, _poller.UnderWay));
    }

    [Fact]
    public void Received_datagrams_not_taken_are_dropped_at_the_close_and_their_memory_comes_back()
    {
        var source = OpenAndBegin();
        Send(1);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        _port.Dispose();
        Assert.Equal(TakeOutcome.Nothing, source.TryTake(_memory, out _));
        _poller.Wait(TimeSpan.Zero, _named);
        Assert.Equal((0, 0), (_pool.LeasedBlocks, _poller.UnderWay));
    }

    [Fact]
    public void The_end_of_the_poller_waits_for_what_was_cancelled()
    {
        OpenAndBegin();
        _port.Dispose();
        _poller.Dispose();
        Assert.Equal((0, 0), (_pool.LeasedBlocks, _calls.UnderWay));
    }

    [Fact]
    public void A_core_thread_that_takes_nothing_leaves_all_but_two_runs_in_the_kernel()
    {
        var source = OpenAndBegin();
        for (byte i = 1; i <= 5; i++)
        {
            Send(i);
        }

        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(1, _poller.Wait(TimeSpan.Zero, _named));
        }

        Assert.Equal(3, WaitingInKernel());
        Assert.Equal([1, 2, 3, 4, 5], TakeAll(source, 5));
    }

    [Fact]
    public void A_receive_that_ends_within_its_call_is_taken_after_one_whose_entry_still_waits()
    {
        var source = OpenAndBegin();
        Send(1);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        _calls.Answers = false;
        Send(2);
        Assert.Equal(1, _poller.Wait(TimeSpan.Zero, _named));
        Send(3);
        Assert.Equal([1], TakeNow(source));

        _calls.Answers = true;
        Assert.Equal([2, 3], TakeAll(source, 2));
    }

    [Fact]
    public void All_that_waits_in_the_kernel_is_taken_without_waiting_for_entries()
    {
        var source = OpenAndBegin();
        for (byte i = 1; i <= 10; i++)
        {
            Send(i);
        }

        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], TakeNow(source));
    }

    [Fact]
    public void A_small_run_leaves_its_block_to_the_next_receive_and_a_long_one_takes_it_along()
    {
        var source = OpenAndBegin();
        Send(1);
        Assert.Equal([1], TakeAll(source, 1));
        // Two that are received into, and one that small runs share.
        Assert.Equal(3, _pool.LeasedBlocks);

        var run = new byte[20_000];
        run[0] = 9;
        Assert.Equal(SendOutcome.Sent, _port.Send(run, run.Length, new DatagramAddress(_port.LocalEndPoint)));
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Equal(TakeOutcome.Taken, source.TryTake(_memory, out var completion));
        Assert.Equal((20_000, 0), (completion.Run.Length, completion.Run.Offset));
        Assert.Equal(TakeOutcome.Nothing, source.TryTake(_memory, out _));
        Assert.Equal(4, _pool.LeasedBlocks);
        completion.Drop();
    }

    [Fact]
    public void A_receive_that_the_system_refuses_is_an_error_of_its_port_and_is_begun_again()
    {
        var source = _poller.Open(_port, new RecordingReceiver());
        _calls.Refusal = SocketError.ConnectionReset;
        Assert.Equal(TakeOutcome.Taken, source.TryTake(_memory, out var completion));
        Assert.Equal((CompletionKind.Error, (int)SocketError.ConnectionReset), (completion.Kind, completion.Value));
        Assert.Same(source, completion.Source);
        Assert.Equal(1, _counters.ReceiveErrors);

        Assert.Equal(TakeOutcome.Nothing, source.TryTake(_memory, out _));
        Assert.Equal(2, _poller.UnderWay);
        Send(1);
        Assert.Equal([1], TakeAll(source, 1));
    }

    [Fact]
    public void A_send_continues_after_the_close_of_its_stream_and_its_memory_is_freed_at_its_end()
    {
        var (client, _) = NewPair();
        client.Blocking = false;
        var stream = _poller.OpenStream(client, new NoSource());
        _calls.Works = false;
        Assert.Equal(5, stream.Send("hello"u8, out var error));
        Assert.Equal(SocketError.Success, error);
        Assert.Equal(2, _poller.UnderWay);

        stream.Close();
        _poller.Wait(TimeSpan.Zero, _named);
        // The receive was cancelled, the send was not.
        Assert.Equal(1, _poller.UnderWay);
        _calls.Works = true;
        _poller.Wait(TimeSpan.Zero, _named);
        Assert.Equal(0, _poller.UnderWay);
        client.Dispose();
    }

    [Fact]
    public void One_send_is_under_way_at_a_time_and_its_source_is_named_when_there_is_room()
    {
        var (client, _) = NewPair();
        var source = new NoSource();
        var stream = _poller.OpenStream(client, source);
        _calls.Works = false;
        Assert.Equal(64 << 10, stream.Send(new byte[100_000], out _));
        Assert.Equal(0, stream.Send(new byte[1], out var error));
        Assert.Equal(SocketError.Success, error);
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _named));

        _calls.Works = true;
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Same(source, _named[0]);
        Assert.Equal(1, stream.Send(new byte[1], out _));
        stream.Close();
        client.Dispose();
    }

    [Fact]
    public void A_move_that_is_not_allowed_is_refused()
    {
        var operation = new OverlappedOperation(new NoOwner(), _port.Socket, 16);
        Assert.Throws<InvalidOperationException>(() => operation.End(0, SocketError.Success));
        operation.Begin();
        Assert.Throws<InvalidOperationException>(operation.Begin);
        Assert.Throws<InvalidOperationException>(operation.Take);
        operation.Free();
        Assert.True(operation.IsUnderWay);
        Assert.False(operation.End(0, SocketError.OperationAborted));
        operation.Free();
        Assert.Throws<InvalidOperationException>(operation.Begin);
    }

    private PortSource OpenAndBegin()
    {
        var source = _poller.Open(_port, new RecordingReceiver());
        Assert.Equal(1, _poller.Wait(TimeSpan.Zero, _named));
        Assert.Equal(TakeOutcome.Nothing, source.TryTake(_memory, out _));
        return source;
    }

    private List<byte> TakeAll(CompletionSource source, int count)
    {
        var taken = new List<byte>();
        for (int wait = 0; wait < 100 && taken.Count < count; wait++)
        {
            _poller.Wait(Patience.Limit, _named);
            taken.AddRange(TakeNow(source));
        }

        return taken;
    }

    private List<byte> TakeNow(CompletionSource source)
    {
        var taken = new List<byte>();
        while (source.TryTake(_memory, out var completion) == TakeOutcome.Taken)
        {
            taken.Add(completion.Run.Span[0]);
            completion.Drop();
        }

        return taken;
    }

    private void Send(byte number) => _port.Send([number], 1, new DatagramAddress(_port.LocalEndPoint));

    private int WaitingInKernel()
    {
        // Looked at, and left.
        int count = 0;
        var bytes = new byte[16];
        var seen = new List<byte[]>();
        while (_port.Socket.Receive(bytes, SocketFlags.None, out var error) > 0 && error == SocketError.Success)
        {
            count++;
            seen.Add(bytes[..1]);
        }

        seen.ForEach(datagram => Send(datagram[0]));
        return count;
    }

    private static (Socket Client, Socket Server) NewPair()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(listener.LocalEndPoint!);
        return (client, listener.Accept());
    }

    private static int[] Offsets<T>(params string[] fields) => [.. fields.Select(field => (int)Marshal.OffsetOf<T>(field))];

    private sealed class NoSource : CompletionSource
    {
        public override bool IsClosed => false;

        public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
        {
            completion = default;
            return TakeOutcome.Nothing;
        }

        public override void OnCompletion(in Completion completion)
        {
        }
    }

    private sealed class NoOwner : IOverlappedOwner
    {
        public CompletionSource Source { get; } = new NoSource();

        public bool IsDue => false;

        public void OnEnded(OverlappedOperation operation)
        {
        }
    }
}
