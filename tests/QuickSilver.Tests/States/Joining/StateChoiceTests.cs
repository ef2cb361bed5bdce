using QuickSilver.Endpoints.Changes;
using QuickSilver.States.Joining;

namespace QuickSilver.Tests.States.Joining;

public sealed class StateChoiceTests
{
    private static readonly NodeId First = new(1, 1);
    private static readonly NodeId Second = new(2, 1);
    private static readonly NodeId Self = new(3, 1);
    private static readonly NodeId Last = new(4, 1);
    private static readonly SubscriberSet Members = new([First, Second, Self, Last]);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(2);

    private readonly StateChoice _choice = new();

    [Fact]
    public void Those_that_are_complete_are_asked_in_turn_and_forever()
    {
        Marks(complete: [First, Last]);
        var asked = new List<NodeId>();
        for (int i = 1; i <= 100; i++)
        {
            asked.Add(Assert.Single(Decide(i)));
            _choice.OnAsked(asked[^1], i % 3 == 0 ? StateAskEnd.Busy : StateAskEnd.Silent);
        }

        Assert.Equal((50, 50), (asked.Count(static one => one == First), asked.Count(static one => one == Last)));
        Assert.All(asked.Zip(asked.Skip(1)), static pair => Assert.NotEqual(pair.First, pair.Second));
    }

    [Fact]
    public void When_no_node_is_complete_the_first_takes_from_each_and_the_next_ones_after_ten_attempts_each()
    {
        Marks();
        for (int i = 1; i < 20; i++)
        {
            Assert.Equal(StateChoiceStep.Pause, _choice.Decide(Self, Members, Long, i).Step);
            Assert.Equal(i < 10 ? StateChoiceStep.Pause : StateChoiceStep.Take, _choice.Decide(Second, Members, Long, i).Step);
        }

        Assert.Equal([First, Second, Last], Decide(20));
        Assert.Equal(First, _choice.First);
    }

    [Theory]
    [InlineData(StateAskEnd.Silent, 3)]
    [InlineData(StateAskEnd.Unreadable, 3)]
    [InlineData(StateAskEnd.Incomplete, 3)]
    [InlineData(StateAskEnd.Endless, 3)]
    [InlineData(StateAskEnd.Busy, 20)]
    public void When_no_node_is_complete_one_that_fails_again_and_again_is_left_out(object end, int times)
    {
        Marks();
        for (int i = 0; i < times; i++)
        {
            Assert.Contains(First, Decide(20));
            _choice.OnAsked(First, (StateAskEnd)end);
        }

        Assert.Equal([Second, Last], Decide(20));
        _choice.OnAsked(First, StateAskEnd.Gave);
        Assert.Contains(First, Decide(20));
    }

    [Fact]
    public void One_that_failed_is_asked_again_after_all_is_there_and_after_it_has_come_back()
    {
        Marks();
        Fail(First, 3);
        _choice.End();
        Assert.Contains(First, Decide(20));
        Fail(First, 3);
        _choice.Keep(new SubscriberSet([Second, Self, Last]));
        Assert.Contains(First, Decide(20));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void One_that_gives_what_this_node_cannot_decode_or_has_no_memory_for_is_asked_forever(bool isMemory)
    {
        Marks();
        for (int i = 0; i < 100; i++)
        {
            _choice.OnAsked(First, isMemory ? StateAskEnd.NoMemory : StateAskEnd.Undecodable);
        }

        Assert.Contains(First, Decide(20));
    }

    [Fact]
    public void The_time_for_one_source_doubles_and_is_without_end_if_there_is_no_other_one()
    {
        Marks();
        var limits = new List<double>();
        for (int i = 0; i < 4; i++)
        {
            limits.Add(_choice.TakeLimit.TotalSeconds);
            _choice.OnAsked(i % 2 == 0 ? First : Last, StateAskEnd.Endless);
        }

        Assert.Equal([30, 60, 120, 240], limits);
        _choice.End();
        Assert.Equal(30, _choice.TakeLimit.TotalSeconds);
        _choice.Begin();
        _choice.OnMark(First, isComplete: true, ageSeconds: 0);
        Assert.Equal(TimeSpan.MaxValue, _choice.TakeLimit);
    }

    private void Marks(params NodeId[] complete)
    {
        _choice.Begin();
        foreach (var node in (ReadOnlySpan<NodeId>)[First, Second, Last])
        {
            _choice.OnMark(node, complete.Contains(node), ageSeconds: 0);
        }
    }

    private void Fail(NodeId node, int times)
    {
        for (int i = 0; i < times; i++)
        {
            _choice.OnAsked(node, StateAskEnd.Silent);
        }

        Assert.DoesNotContain(node, Decide(20));
    }

    private NodeId[] Decide(int attempts)
    {
        var (step, sources) = _choice.Decide(Self, Members, Long, attempts);
        Assert.Equal(StateChoiceStep.Take, step);
        return sources;
    }
}
