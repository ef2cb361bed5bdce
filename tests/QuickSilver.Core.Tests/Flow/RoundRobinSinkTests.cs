using QuickSilver.Core.Flow;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Flow;

public sealed class RoundRobinSinkTests
{
    private readonly RecordingRoot _root = new();

    [Fact]
    public void Feeds_take_turns()
    {
        var sink = Sink(itemsPerTurn: 2);
        Register(sink, new NamedFeed('a', 5), new NamedFeed('b', 3), new NamedFeed('c', 1));

        Assert.Equal("aabbcaaba", _root.Pull(100));
        Assert.False(_root.HasFeeds);
    }

    [Fact]
    public void Turns_go_on_where_the_last_pull_ended()
    {
        var sink = Sink();
        Register(sink, new NamedFeed('a', 9), new NamedFeed('b', 9), new NamedFeed('c', 9));

        Assert.Equal("ab", _root.Pull(2));
        Assert.Equal("ca", _root.Pull(2));
        Assert.Equal("bc", _root.Pull(2));
    }

    [Fact]
    public void A_token_goes_before_all_that_waits()
    {
        var sink = Sink();
        var token = new NamedFeed('t', 2, FeedPriority.Token);
        Register(sink, new NamedFeed('d', 9), new NamedFeed('r', 1, FeedPriority.Repair), new NamedFeed('c', 1, FeedPriority.Control));
        sink.Register(token);
        Assert.Equal("ttcrd", _root.Pull(5));

        token.Items = 1;
        sink.Register(token);
        Assert.Equal("td", _root.Pull(2));
    }

    [Fact]
    public void An_inner_sink_is_one_feed_among_others()
    {
        var outer = Sink();
        var inner = new RoundRobinSink(outer, FeedPriority.Data, 1);
        Register(inner, new NamedFeed('x', 3), new NamedFeed('y', 3));
        Register(outer, new NamedFeed('a', 9));

        Assert.Equal("xayaxaya", _root.Pull(8));
    }

    [Fact]
    public void A_sink_is_in_line_above_only_while_it_has_feeds()
    {
        var sink = Sink();
        var feed = new NamedFeed('a', 1);
        Assert.False(_root.HasFeeds);
        sink.Register(feed);
        sink.Register(feed);
        Assert.Equal(1, _root.Registrations);
        Assert.Equal(1, sink.RegisteredFeeds);

        sink.Withdraw(feed);
        sink.Withdraw(feed);
        Assert.False(_root.HasFeeds);
        Assert.Equal(0, sink.RegisteredFeeds);
        Assert.Equal("", _root.Pull(10));
    }

    [Fact]
    public void A_feed_in_line_elsewhere_is_refused()
    {
        var feed = new NamedFeed('a', 1);
        Sink().Register(feed);
        Assert.Throws<InvalidOperationException>(() => Sink().Register(feed));
    }

    [Fact]
    public void A_feed_that_needs_more_room_keeps_its_turn()
    {
        var sink = Sink();
        Register(sink, new NamedFeed('a', 4, itemBytes: 4), new NamedFeed('b', 4, itemBytes: 4));

        Assert.Equal("aba", _root.Pull(100, roomBytes: 14, itemBytes: 4));
        Assert.Equal("bab", _root.Pull(100, roomBytes: 14, itemBytes: 4));
    }

    [Fact]
    public void A_feed_that_writes_nothing_into_an_untouched_context_is_withdrawn()
    {
        var sink = Sink();
        var stuck = new NamedFeed('a', 1, itemBytes: 50);
        Register(sink, stuck, new NamedFeed('b', 1));

        Assert.Equal("b", _root.Pull(10, roomBytes: 10));
        Assert.False(stuck.Link.IsRegistered);
        Assert.Equal(1, stuck.Turns);
    }

    [Fact]
    public void A_feed_that_registers_in_its_own_turn_stands_in_line_once()
    {
        var sink = Sink();
        var feed = new NamedFeed('a', 3);
        feed.OnTurn = () => sink.Register(feed);
        Register(sink, feed, new NamedFeed('b', 3));

        Assert.Equal("ababab", _root.Pull(100));
        Assert.False(feed.Link.IsRegistered);
    }

    [Fact]
    public void A_feed_that_throws_is_withdrawn_and_the_others_go_on()
    {
        var sink = Sink();
        var bad = new NamedFeed('a', 1) { OnTurn = () => throw new InvalidDataException() };
        Register(sink, bad, new NamedFeed('b', 2));

        Assert.Throws<InvalidDataException>(() => _root.Pull(10));
        Assert.False(bad.Link.IsRegistered);
        // The root lost its line with the exception, as a loop that logs and goes on would; it is told again.
        _root.Register(sink);
        Assert.Equal("bb", _root.Pull(10));
    }

    [Fact]
    public void A_feed_that_overruns_its_turn_is_stopped()
    {
        var sink = Sink(itemsPerTurn: 2);
        sink.Register(new GreedyFeed());
        Assert.Throws<InvalidOperationException>(() => _root.Pull(10));
    }

    [Fact]
    public void A_full_window_takes_the_sink_out_of_line_until_credits_come_back()
    {
        var window = new Window(3, FlowUnit.Items);
        var sink = Sink(1, window);
        var opensAt = TimeSpan.Zero;
        sink.OnClosed = at => opensAt = at;
        Register(sink, new NamedFeed('a', 9), new NamedFeed('b', 9));

        Assert.Equal("aba", _root.Pull(100));
        Assert.True(sink.IsClosed);
        Assert.Equal(TimeSpan.MaxValue, opensAt);
        Assert.False(_root.HasFeeds);
        sink.Register(new NamedFeed('c', 9));
        Assert.False(_root.HasFeeds);

        window.Return(2);
        sink.Resume();
        Assert.Equal("ba", _root.Pull(100));
        Assert.Equal(3, window.Outstanding);
    }

    [Fact]
    public void A_spent_rate_names_the_instant_at_which_it_opens()
    {
        var sink = Sink(1, new RateLimit(TimeSpan.Zero, perSecond: 10, burst: 20));
        var opensAt = TimeSpan.Zero;
        sink.OnClosed = at => opensAt = at;
        sink.Register(new NamedFeed('a', 100, itemBytes: 15));

        // The second item is passed in debt: 30 of 20.
        Assert.Equal("aa", _root.Pull(100, itemBytes: 15));
        Assert.Equal(TimeSpan.FromSeconds(1), opensAt);

        sink.Resume();
        Assert.Equal("a", _root.Pull(100, now: opensAt, itemBytes: 15));
    }

    [Fact]
    public void A_resume_that_comes_too_early_changes_nothing()
    {
        var window = new Window(1, FlowUnit.Items);
        var sink = Sink(1, window);
        int closed = 0;
        sink.OnClosed = _ => closed++;
        sink.Register(new NamedFeed('a', 9));
        Assert.Equal("a", _root.Pull(100));
        sink.Resume();
        Assert.Equal("", _root.Pull(100));
        Assert.Equal(2, closed);
        window.Return(1);
        sink.Resume();
        Assert.Equal("a", _root.Pull(100));
    }

    [Fact]
    public void Feeds_that_always_have_more_never_differ_by_more_than_a_turn()
    {
        Steps.Hold(steps =>
        {
            var root = new RecordingRoot();
            int perTurn = 1 + steps.Length % 4;
            var sink = new RoundRobinSink(root, FeedPriority.Data, perTurn);
            int feeds = 2 + steps.Length % 7;
            for (int i = 0; i < feeds; i++)
            {
                sink.Register(new NamedFeed((char)('a' + i), int.MaxValue));
            }

            // Only pulls that end between turns: one that is cut inside of a turn ends that turn early.
            var counts = new int[feeds];
            foreach (int step in steps)
            {
                foreach (char name in root.Pull(perTurn * (1 + step % 9)))
                {
                    counts[name - 'a']++;
                }

                Assert.True(counts.Max() - counts.Min() <= perTurn);
            }
        });
    }

    [Fact]
    public void Whatever_feeds_do_every_item_goes_out_once_and_no_pull_spins()
    {
        Steps.Hold(steps =>
        {
            var root = new RecordingRoot();
            var outer = new RoundRobinSink(root, FeedPriority.Data, 2);
            var inner = new RoundRobinSink(outer, FeedPriority.Repair, 1);
            var feeds = Enumerable.Range(0, 8).Select(i => new NamedFeed((char)('a' + i), 0, (FeedPriority)(i % 4))).ToArray();
            var sinks = feeds.Select((_, i) => i < 4 ? outer : inner).ToArray();
            int put = 0;
            int got = 0;
            foreach (int step in steps)
            {
                int which = step / 4 % feeds.Length;
                switch (step % 4)
                {
                    case 0:
                        feeds[which].Items += step / 64 % 5;
                        put += step / 64 % 5;
                        sinks[which].Register(feeds[which]);
                        break;
                    case 1:
                        sinks[which].Withdraw(feeds[which]);
                        break;
                    default:
                        got += root.Pull(1 + step / 64 % 6).Length;
                        break;
                }

                Assert.Equal(put - feeds.Sum(feed => feed.Items), got);
                Assert.Equal(feeds[4..].Count(feed => feed.Link.IsRegistered), inner.RegisteredFeeds);
                Assert.Equal(inner.RegisteredFeeds > 0, inner.Link.IsRegistered);
            }

            foreach (var (feed, sink) in feeds.Zip(sinks))
            {
                sink.Register(feed);
            }

            while (root.HasFeeds)
            {
                got += root.Pull(7).Length;
            }

            Assert.Equal(put, got);
        });
    }

    [Fact]
    public void Registering_and_pulling_allocate_nothing()
    {
        var inner = new RoundRobinSink(
            Sink(4), FeedPriority.Data, 2, new RateLimit(TimeSpan.Zero, 1e9, 1e9), new Window(long.MaxValue, FlowUnit.Bytes));
        var feeds = Enumerable.Range(0, 20).Select(i => new NamedFeed((char)('a' + i), 0)).ToArray();
        int items = 0;
        long allocated = Allocations.After(() =>
        {
            foreach (var feed in feeds)
            {
                feed.Items = 10;
                inner.Register(feed);
            }

            while (_root.HasFeeds)
            {
                items += _root.PullSilently(16);
            }
        });

        Assert.Equal(400, items);
        Assert.Equal(0, allocated);
    }

    private static void Register(RoundRobinSink sink, params NamedFeed[] feeds)
    {
        foreach (var feed in feeds)
        {
            sink.Register(feed);
        }
    }

    private RoundRobinSink Sink(int itemsPerTurn = 1, params IAdmission[] policies) =>
        new(_root, FeedPriority.Data, itemsPerTurn, policies);

    private sealed class GreedyFeed : IFeed
    {
        public GreedyFeed() => Link = new FeedLink(this, FeedPriority.Data);

        public FeedLink Link { get; }

        public bool Pull(ref PullContext context)
        {
            for (int i = 0; i < 3; i++)
            {
                context.Commit(1);
            }

            return true;
        }
    }
}
