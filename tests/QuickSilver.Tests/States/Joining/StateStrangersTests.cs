using QuickSilver.Endpoints.Changes;
using QuickSilver.States.Joining;

namespace QuickSilver.Tests.States.Joining;

public sealed class StateStrangersTests
{
    private static readonly NodeId Self = new(1, 1);
    private static readonly NodeId Other = new(2, 1);
    private static readonly NodeId Stranger = new(3, 1);
    private static readonly SubscriberSet Members = new([Self, Other, Stranger]);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(2);

    private readonly StateStrangers _strangers = new(Self);

    [Fact]
    public void A_member_that_says_nothing_for_two_seconds_is_a_stranger_once()
    {
        _strangers.Know(Other);
        _strangers.NoteUnknown(Members, TimeSpan.Zero);
        Assert.True(_strangers.IsAnyUnknown);
        Assert.False(_strangers.TryMeet(Limit - TimeSpan.FromTicks(1)));

        Assert.True(_strangers.TryMeet(Limit));
        Assert.False(_strangers.IsAnyUnknown);
        _strangers.NoteUnknown(Members, Limit);
        Assert.False(_strangers.IsAnyUnknown);
    }

    [Fact]
    public void A_member_that_says_hello_in_time_is_none()
    {
        _strangers.Know(Other);
        _strangers.NoteUnknown(Members, TimeSpan.Zero);
        _strangers.Know(Stranger);

        Assert.False(_strangers.IsAnyUnknown);
        Assert.False(_strangers.TryMeet(Limit));
    }

    [Fact]
    public void A_member_that_has_left_is_forgotten_and_unknown_when_it_comes_back()
    {
        _strangers.Know(Other);
        _strangers.NoteUnknown(Members, TimeSpan.Zero);
        var rest = new SubscriberSet([Self]);
        _strangers.Keep(rest);
        _strangers.NoteUnknown(rest, TimeSpan.Zero);
        Assert.False(_strangers.IsAnyUnknown);

        _strangers.NoteUnknown(new SubscriberSet([Self, Other]), TimeSpan.Zero);
        Assert.True(_strangers.IsAnyUnknown);
    }
}
