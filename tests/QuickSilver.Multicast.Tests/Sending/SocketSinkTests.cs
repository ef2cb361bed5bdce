using QuickSilver.Core.Flow;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Sending;

public sealed class SocketSinkTests
{
    private readonly HandDrivenEnvironment _environment = new();
    private readonly SocketSink _sink;
    private readonly List<string> _sent = [];

    public SocketSinkTests() => _sink = new SocketSink(_environment);

    [Fact]
    public void Nothing_is_pulled_before_the_end_of_the_turn()
    {
        _sink.Register(new Feed("a", 1, _sent));
        Assert.Empty(_sent);
        _environment.EndTurn();
        Assert.Equal(["a"], _sent);
    }

    [Fact]
    public void Streams_send_a_run_each_in_turn()
    {
        _sink.Register(new Feed("a", 3, _sent));
        _sink.Register(new Feed("b", 2, _sent));
        _environment.EndTurn();
        Assert.Equal(["a", "b", "a", "b", "a"], _sent);
    }

    [Fact]
    public void Repairs_go_before_new_data()
    {
        _sink.Register(new Feed("data", 2, _sent));
        _sink.Register(new Feed("repair", 2, _sent), FeedPriority.Repair);
        _environment.EndTurn();
        Assert.Equal(["repair", "repair", "data", "data"], _sent);
    }

    [Fact]
    public void Less_than_a_run_is_flushed_when_the_full_runs_have_left()
    {
        _sink.FlushSoon(new Feed("a", 0, _sent));
        _sink.Register(new Feed("b", 1, _sent));
        _environment.EndTurn();
        Assert.Equal(["b", "flush a"], _sent);
    }

    [Fact]
    public void A_turn_sends_so_many_runs_that_the_ports_are_read_soon()
    {
        _sink.Register(new Feed("a", 1000, _sent));
        _sink.FlushSoon(new Feed("b", 0, _sent));
        _environment.EndOneTurn();
        Assert.Equal(17, _sent.Count);
        Assert.Equal("flush b", _sent[^1]);

        _environment.EndTurn();
        Assert.Equal(1001, _sent.Count);
    }

    [Fact]
    public void A_turn_of_slow_sends_ends_by_time()
    {
        _sink.Register(new Feed("a", 10, _sent) { Takes = () => _environment.Pass(TimeSpan.FromMilliseconds(1.5)) });
        _environment.EndOneTurn();
        Assert.Equal(2, _sent.Count);
    }

    [Fact]
    public void A_feed_that_is_noted_twice_is_flushed_once_and_may_be_noted_again()
    {
        var feed = new Feed("a", 0, _sent);
        _sink.FlushSoon(feed);
        _sink.FlushSoon(feed);
        _environment.EndTurn();
        Assert.Equal(["flush a"], _sent);

        _sink.FlushSoon(feed);
        _sink.Flush();
        Assert.Equal(["flush a", "flush a"], _sent);
        _environment.EndTurn();
        Assert.Equal(2, _sent.Count);
    }

    [Fact]
    public void A_closed_sink_asks_no_feed()
    {
        _sink.Register(new Feed("a", 1, _sent));
        _sink.Close();
        _sink.FlushSoon(new Feed("b", 0, _sent));
        _environment.EndTurn();
        Assert.Empty(_sent);
    }

    [Fact]
    public void A_feed_that_throws_in_its_turn_continues_after_a_pause_and_so_do_the_others()
    {
        bool throws = true;
        _sink.Register(new Feed("a", 2, _sent) { Takes = () => ThrowIf(throws) });
        _sink.Register(new Feed("b", 1, _sent));
        _sink.FlushSoon(new Feed("c", 0, _sent));
        Assert.Throws<OutOfMemoryException>(_environment.EndTurn);
        Assert.Equal(["a", "flush c"], _sent);

        throws = false;
        _environment.EndTurn();
        Assert.Equal(["a", "flush c"], _sent);
        _environment.Advance(milliseconds: 100);
        Assert.Equal(["a", "flush c", "b", "a", "a"], _sent);
    }

    [Fact]
    public void A_feed_that_throws_when_it_is_flushed_is_flushed_again_and_so_are_those_behind_it()
    {
        bool throws = true;
        _sink.FlushSoon(new Feed("a", 0, _sent));
        _sink.FlushSoon(new Feed("b", 0, _sent) { Takes = () => ThrowIf(throws) });
        _sink.FlushSoon(new Feed("c", 0, _sent));
        Assert.Throws<OutOfMemoryException>(_environment.EndTurn);
        Assert.Equal(["flush a"], _sent);

        throws = false;
        _environment.Advance(milliseconds: 100);
        Assert.Equal(["flush a", "flush c", "flush b"], _sent);
    }

    [Fact]
    public void A_repair_that_throws_again_and_again_keeps_no_data_back_and_data_keeps_no_repair_back()
    {
        _sink.Register(new Feed("broken", 1, _sent) { Takes = () => ThrowIf(true) }, FeedPriority.Repair);
        _sink.Register(new Feed("data", 2, _sent));
        _sink.FlushSoon(new Feed("b", 0, _sent) { Takes = () => ThrowIf(true) });
        _sink.FlushSoon(new Feed("c", 0, _sent));
        Assert.Throws<OutOfMemoryException>(_environment.EndTurn);
        for (int i = 0; i < 5; i++)
        {
            Assert.Throws<OutOfMemoryException>(() => _environment.Advance(milliseconds: 100));
        }

        Assert.Equal(2, _sent.Count(static one => one == "data"));
        Assert.Contains("flush c", _sent);
        _sink.Register(new Feed("repair", 1, _sent), FeedPriority.Repair);
        for (int i = 0; i < 5; i++)
        {
            Assert.Throws<OutOfMemoryException>(() => _environment.Advance(milliseconds: 100));
        }

        Assert.Contains("repair", _sent);
    }

    [Fact]
    public void A_sink_that_is_closed_after_an_exception_asks_no_feed()
    {
        _sink.Register(new Feed("a", 1, _sent) { Takes = () => ThrowIf(true) });
        Assert.Throws<OutOfMemoryException>(_environment.EndTurn);
        _sink.Close();
        _environment.Advance(milliseconds: 1_000);
        Assert.Equal(["a"], _sent);
    }

    private static void ThrowIf(bool throws)
    {
        if (throws)
        {
            throw new OutOfMemoryException("a test");
        }
    }

    private sealed class Feed(string name, int runs, List<string> sent) : IFlushedFeed
    {
        private int _left = runs;

        public bool IsInLine { get; set; }

        public bool IsFlushNoted { get; set; }

        public Action? Takes { get; init; }

        public bool Pull(ref PullBudget budget)
        {
            sent.Add(name);
            Takes?.Invoke();
            budget.Charge(1_000);
            return --_left > 0;
        }

        public void Flush()
        {
            Takes?.Invoke();
            sent.Add("flush " + name);
        }
    }
}
