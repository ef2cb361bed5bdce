using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Transport;

// What each poller must do; a poller passes by inheriting it. What nodes see of it is in CompletionContract.
public abstract class PollerContract : IDisposable
{
    private readonly SlabPool _pool = new(4 * SlabPool.BlockBytes);
    private readonly IPoller _poller;
    private readonly DatagramSocket _receiver = NewPort();
    private readonly DatagramSocket _other = NewPort();
    private readonly DatagramSocket _sender = NewPort();
    private readonly CompletionSource[] _named = new CompletionSource[8];
    private readonly RunMemory _memory;

    internal PollerContract(IPoller poller)
    {
        _poller = poller;
        _memory = new RunMemory(_pool);
    }

    public void Dispose()
    {
        Array.ForEach([_receiver, _other, _sender], port => port.Dispose());
        _poller.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public void Names_a_source_until_all_it_has_is_taken()
    {
        var source = _poller.Open(_receiver, new RecordingReceiver());
        Settle();

        SendTo(_receiver, 1);
        SendTo(_receiver, 2);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Same(source, _named[0]);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));

        Assert.Equal([(source, CompletionKind.Run, 1), (source, CompletionKind.Run, 2)], TakeUntil(2));
        Settle();
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _named));
    }

    [Fact]
    public void Distinguishes_sources()
    {
        var one = _poller.Open(_receiver, new RecordingReceiver());
        var two = _poller.Open(_other, new RecordingReceiver());
        Settle();

        SendTo(_other, 1);
        Assert.Equal([(two, CompletionKind.Run, 1)], TakeUntil(1));
        SendTo(_receiver, 2);
        SendTo(_other, 3);
        Assert.Equal(
            [(one, CompletionKind.Run, 2), (two, CompletionKind.Run, 3)],
            TakeUntil(2).OrderBy(taken => taken.Value));
    }

    [Fact]
    public void Forgets_a_port_that_closes_and_its_place_is_used_again()
    {
        var closed = _poller.Open(_receiver, new RecordingReceiver());
        Settle();
        SendTo(_receiver, 1);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        _receiver.Dispose();
        Assert.Equal(TakeOutcome.Nothing, closed.TryTake(_memory, out _));
        Settle();

        var two = _poller.Open(_other, new RecordingReceiver());
        Settle();
        SendTo(_other, 2);
        Assert.Equal([(two, CompletionKind.Run, 2)], TakeUntil(1));
    }

    [Fact]
    public void Names_no_more_than_asked_and_the_others_the_next_time()
    {
        DatagramSocket[] ports = [.. Enumerable.Range(0, 5).Select(_ => NewPort())];
        CompletionSource[] sources = [.. ports.Select(port => _poller.Open(port, new RecordingReceiver()))];
        Settle();
        Array.ForEach(ports, port => SendTo(port, 1));
        var named = new HashSet<CompletionSource>();
        var two = new CompletionSource[2];
        for (int i = 0; i < 8 && named.Count < sources.Length; i++)
        {
            int count = _poller.Wait(Patience.Limit, two);
            Assert.InRange(count, 1, 2);
            named.UnionWith(two[..count]);
        }

        Assert.Equal(sources.Length, named.Count);
        Array.ForEach(ports, port => port.Dispose());
    }

    [Fact]
    public void Without_memory_a_run_is_left_and_its_source_named_again()
    {
        var source = _poller.Open(_receiver, new RecordingReceiver());
        List<Lease> taken = [];
        while (_pool.TryRent() is { } lease)
        {
            taken.Add(lease);
        }

        SendTo(_receiver, 7);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Equal(TakeOutcome.NoMemory, source.TryTake(_memory, out _));
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        taken.ForEach(lease => lease.Release());
        Assert.Equal([(source, CompletionKind.Run, 7)], TakeUntil(1));
    }

    [Fact]
    public void A_source_that_is_posted_by_any_thread_is_named_once()
    {
        var source = new PostedSource();
        var wait = Task.Run(() => _poller.Wait(Timeout.InfiniteTimeSpan, _named));
        _poller.Post(source);
        Assert.Equal(1, Patience.Result(wait, "the source"));
        Assert.Same(source, _named[0]);
        Settle();
        Assert.Equal(0, _poller.Wait(TimeSpan.Zero, _named));
    }

    [Fact]
    public void A_posted_source_and_a_port_are_named_by_the_same_wait()
    {
        var port = _poller.Open(_receiver, new RecordingReceiver());
        Settle();
        SendTo(_receiver, 1);
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        var posted = new PostedSource();
        _poller.Post(posted);
        Assert.Equal(2, _poller.Wait(Patience.Limit, _named));
        Assert.Equal<CompletionSource>([port, posted], _named[..2].OrderBy(source => ReferenceEquals(source, posted)));
    }

    [Fact]
    public void A_wake_from_another_thread_ends_a_wait_without_end()
    {
        var wait = Task.Run(() => _poller.Wait(Timeout.InfiniteTimeSpan, _named));
        _poller.Wake();
        Assert.Equal(0, Patience.Result(wait, "the wake"));
    }

    [Fact]
    public void A_wake_before_the_wait_is_not_lost_and_counts_once()
    {
        _poller.Wake();
        _poller.Wake();
        Assert.Equal(0, _poller.Wait(Timeout.InfiniteTimeSpan, _named));

        var second = Task.Run(() => _poller.Wait(Timeout.InfiniteTimeSpan, _named));
        Patience.Not(second, "the first wait left a wake");
        _poller.Wake();
        Patience.Result(second, "the third wake");
    }

    [Fact]
    public void The_end_of_the_time_ends_a_wait()
    {
        var wait = Task.Run(() => _poller.Wait(TimeSpan.FromMicroseconds(300), _named));
        Assert.Equal(0, Patience.Result(wait, "the end of the time"));
    }

    [Fact]
    public void Waiting_for_a_wake_only_leaves_what_ports_have_to_the_next_wait()
    {
        var source = _poller.Open(_receiver, new RecordingReceiver());
        Settle();
        SendTo(_receiver, 1);
        _poller.WaitForWake(TimeSpan.FromMicroseconds(100));
        Assert.Equal(1, _poller.Wait(Patience.Limit, _named));
        Assert.Same(source, _named[0]);

        var wait = Task.Run(() =>
        {
            _poller.WaitForWake(Timeout.InfiniteTimeSpan);
            return true;
        });
        Patience.Not(wait, "a port ended the wait for a wake");
        _poller.Wake();
        Patience.Result(wait, "the wake");
    }

    [Fact]
    public void A_wake_after_the_end_is_harmless()
    {
        _poller.Dispose();
        _poller.Wake();
        _poller.Post(new PostedSource());
    }

    // Takes from whatever is named, until so many completions came.
    private List<(CompletionSource Source, CompletionKind Kind, int Value)> TakeUntil(int count)
    {
        var all = new List<(CompletionSource, CompletionKind, int)>();
        for (int wait = 0; wait < 1000 && all.Count < count; wait++)
        {
            TakeNamed(_poller.Wait(Patience.Limit, _named), all);
        }

        return all;
    }

    // A poller may name a source that has nothing yet, as to begin a receive.
    private void Settle()
    {
        var all = new List<(CompletionSource, CompletionKind, int)>();
        for (int i = 0; i < 10; i++)
        {
            TakeNamed(_poller.Wait(TimeSpan.Zero, _named), all);
        }

        Assert.Empty(all);
    }

    private void TakeNamed(int named, List<(CompletionSource, CompletionKind, int)> into)
    {
        foreach (var source in _named[..named])
        {
            while (source.TryTake(_memory, out var completion) == TakeOutcome.Taken)
            {
                Assert.Same(source, completion.Source);
                into.Add((source, completion.Kind, completion.Run.Span[0]));
                completion.Drop();
            }
        }
    }

    private void SendTo(DatagramSocket port, byte number) =>
        Assert.Equal(SendOutcome.Sent, _sender.Send([number], 1, new DatagramAddress(port.LocalEndPoint)));

    private static DatagramSocket NewPort() =>
        new DatagramSocketFactory(IPAddress.Loopback, segmentationOffload: false, new CoreCounters(), new LogRecorder())
            .Open(new DatagramPortOptions());

    private sealed class PostedSource : CompletionSource
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
}
