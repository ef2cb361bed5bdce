using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Flow;

namespace QuickSilver.Core.Tests.Flow;

public sealed class FeedLineTests
{
    private readonly FeedLine _line = new();
    private readonly List<char> _given = [];

    [Fact]
    public void Feeds_have_turns_in_the_order_in_which_they_came_until_they_have_no_more()
    {
        Add('a', 3);
        Add('b', 1);
        Add('c', 2);
        GiveTurns();
        Assert.Equal("abcaca", string.Concat(_given));
    }

    [Fact]
    public void A_feed_that_registers_twice_has_one_turn()
    {
        var feed = Add('a', 2);
        _line.Add(feed);
        Add('b', 1);
        GiveTurns();
        Assert.Equal("aba", string.Concat(_given));
    }

    [Fact]
    public void A_feed_that_gave_nothing_leaves_the_line_whatever_it_says()
    {
        Add('a', 0).SaysMore = true;
        Add('b', 1);
        GiveTurns();
        Assert.Equal("b", string.Concat(_given));
        Assert.Equal(0, _line.Count);
    }

    [Fact]
    public void A_feed_that_registers_within_its_turn_is_in_line_once()
    {
        var feed = Add('a', 3);
        feed.Registers = _line;
        var budget = PullBudget.Unlimited;
        _line.GiveTurn(ref budget);
        Assert.Equal((1, true), (_line.Count, feed.IsInLine));
    }

    [Fact]
    public void A_feed_whose_turn_was_cut_short_has_the_next_one()
    {
        Add('a', 2);
        var cut = Add('b', 2);
        Add('c', 1);
        var budget = PullBudget.Unlimited;
        _line.GiveTurn(ref budget);
        Assert.Same(cut, _line.TakeFirst());
        _line.AddFirst(cut);
        _line.AddFirst(cut);
        Assert.Equal((3, true), (_line.Count, ReferenceEquals(cut, _line.First)));
        Assert.Equal(3, _line.Feeds.Count);
        GiveTurns();
        Assert.Equal("abcab", string.Concat(_given));
    }

    [Fact]
    public void A_feed_that_throws_in_its_turn_stays_in_line()
    {
        var line = new FeedLine();
        var feed = new ThrowingFeed();
        line.Add(feed);
        Assert.Throws<InvalidOperationException>(() => line.GiveOneTurnEach());
        Assert.Equal((1, true), (line.Count, feed.IsInLine));
    }

    [Fact]
    public void A_feed_that_was_taken_out_may_register_with_another_sink()
    {
        var feed = Add('a', 1);
        Assert.Same(feed, _line.TakeFirst());
        Assert.False(feed.IsInLine);
        var other = new FeedLine();
        other.Add(feed);
        Assert.Equal((0, 1), (_line.Count, other.Count));
    }

    [Fact]
    public void While_feeds_have_more_the_numbers_of_their_turns_differ_by_one_at_most()
    {
        Prop.ForAll(ArbMap.Default.ArbFor<(byte Feeds, ushort Turns)>(), plan =>
        {
            int feeds = plan.Feeds + 1;
            var line = new FeedLine();
            var all = Enumerable.Range(0, feeds).Select(_ => new Feed('x', int.MaxValue, [])).ToArray();
            Array.ForEach(all, line.Add);
            for (int turn = 0; turn < plan.Turns; turn++)
            {
                var budget = PullBudget.Unlimited;
                line.GiveTurn(ref budget);
            }

            return all.Max(feed => feed.Turns) - all.Min(feed => feed.Turns) <= 1 && line.Count == feeds;
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void A_budget_is_spent_by_items_or_by_bytes()
    {
        var byItems = new PullBudget(2, 100);
        byItems.Charge(10);
        Assert.False(byItems.IsSpent);
        byItems.Charge(10);
        Assert.True(byItems.IsSpent);

        var byBytes = new PullBudget(100, 20);
        byBytes.Charge(19);
        Assert.False(byBytes.IsSpent);
        byBytes.Charge(500);
        Assert.Equal((true, -499), (byBytes.IsSpent, byBytes.Bytes));
    }

    private sealed class ThrowingFeed : IFeed
    {
        public bool IsInLine { get; set; }

        public bool Pull(ref PullBudget budget) => throw new InvalidOperationException("a test");
    }

    private Feed Add(char name, int items)
    {
        var feed = new Feed(name, items, _given);
        _line.Add(feed);
        return feed;
    }

    private void GiveTurns()
    {
        for (int turns = 0; _line.Count > 0; turns++)
        {
            Assert.True(turns < 100, "The line does not come to an end.");
            var budget = PullBudget.Unlimited;
            _line.GiveTurn(ref budget);
        }
    }

    // Gives one item a turn.
    private sealed class Feed(char name, int items, List<char> given) : IFeed
    {
        private int _left = items;

        public bool IsInLine { get; set; }

        public bool SaysMore { get; set; }

        public FeedLine? Registers { get; set; }

        public int Turns { get; private set; }

        public bool Pull(ref PullBudget budget)
        {
            Turns++;
            Registers?.Add(this);
            if (_left > 0)
            {
                _left--;
                given.Add(name);
                budget.Charge(1);
            }

            return _left > 0 || SaysMore;
        }
    }
}
