using QuickSilver.Groups.States;

namespace QuickSilver.Groups.Tests.States;

// What a member keeps while it waits for the state, and which states it can use with it.
public sealed class SuffixQueueTests
{
    private const int MostEvents = 8;
    private const long MostBytes = 1_000;

    private static readonly NodeId One = new(1, 1);
    private static readonly NodeId Two = new(2, 1);

    [Fact]
    public void What_the_state_contains_is_removed_and_the_rest_stays_in_order()
    {
        var queue = Queue();
        AddView(queue, 5);
        Add(queue, 5, One, 1);
        Add(queue, 5, Two, 1);
        Add(queue, 5, One, 2);
        AddView(queue, 7);
        Add(queue, 7, One, 3);

        var place = StatePlace.At(5);
        place.Pass(One, 1);
        queue.RemoveContained(place);

        Assert.Equal(["5 2.1", "5 1.2", "view 7", "7 1.3"], Rest(queue));
    }

    [Fact]
    public void A_state_of_a_later_view_contains_all_of_the_earlier_ones()
    {
        var queue = Queue();
        AddView(queue, 5);
        Add(queue, 5, One, 9);
        AddView(queue, 7);
        // The numbers of a node that comes back begin again.
        Add(queue, 7, One, 1);
        Add(queue, 7, Two, 4);

        var place = StatePlace.At(7);
        place.Pass(Two, 4);
        queue.RemoveContained(place);

        Assert.Equal(["7 1.1"], Rest(queue));
    }

    [Fact]
    public void A_state_from_before_the_first_view_is_of_no_use()
    {
        var queue = Queue();
        queue.Begin(7);

        Assert.False(StatePlace.At(5).Covers(queue.Needed));
        Assert.True(StatePlace.At(7).Covers(queue.Needed));
        Assert.True(StatePlace.At(8).Covers(queue.Needed));
    }

    [Theory]
    [InlineData(MostEvents, 0)]
    [InlineData(4, MostBytes / 4)]
    public void It_is_full_by_events_and_by_bytes(int events, long bytes)
    {
        var queue = Queue();
        for (int i = 1; i <= events; i++)
        {
            Assert.False(queue.IsFull);
            queue.Add($"5 1.{i}", 5, One, i, (int)bytes);
        }

        Assert.True(queue.IsFull);
        Assert.True(queue.TryTake(out _, out _));
        Assert.False(queue.IsFull);
    }

    [Fact]
    public void What_was_dropped_must_be_in_the_state()
    {
        var queue = Queue();
        queue.Begin(5);
        AddView(queue, 5);
        Add(queue, 5, One, 1);
        AddView(queue, 7);
        Add(queue, 7, One, 2);
        Add(queue, 7, Two, 1);
        queue.Drop();
        Add(queue, 7, One, 3);

        Assert.Equal(1, queue.Count);
        Assert.False(StatePlace.At(5).Covers(queue.Needed));
        var place = StatePlace.At(7);
        place.Pass(One, 2);
        Assert.False(place.Covers(queue.Needed));
        place.Pass(Two, 1);
        Assert.True(place.Covers(queue.Needed));
        Assert.True(StatePlace.At(9).Covers(queue.Needed));
        queue.RemoveContained(place);
        Assert.Equal(["7 1.3"], Rest(queue));
    }

    [Fact]
    public void A_dropped_view_without_messages_must_be_in_the_state()
    {
        var queue = Queue();
        queue.Begin(5);
        AddView(queue, 7);
        queue.Drop();

        Assert.False(StatePlace.At(5).Covers(queue.Needed));
        Assert.True(StatePlace.At(7).Covers(queue.Needed));
    }

    [Fact]
    public void A_copy_of_a_place_does_not_follow_it()
    {
        var place = StatePlace.At(5);
        place.Pass(One, 1);
        var copy = place.Copy();
        place.Pass(One, 2);
        place.Enter(6);

        Assert.Equal(5, copy.View);
        Assert.True(copy.Contains(5, One, 1));
        Assert.False(copy.Contains(5, One, 2));
        Assert.False(copy.Contains(6, One, 1));
    }

    private static SuffixQueue<string> Queue() => new(MostEvents, MostBytes);

    private static void AddView(SuffixQueue<string> queue, long view) => queue.Add($"view {view}", view, default, 0, 0);

    private static void Add(SuffixQueue<string> queue, long view, NodeId sender, long number) =>
        queue.Add($"{view} {sender.Id}.{number}", view, sender, number, 1);

    private static List<string> Rest(SuffixQueue<string> queue)
    {
        var rest = new List<string>();
        while (queue.TryTake(out string one, out _))
        {
            rest.Add(one);
        }

        return rest;
    }
}
