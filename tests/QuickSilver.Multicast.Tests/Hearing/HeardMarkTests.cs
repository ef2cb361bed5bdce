using QuickSilver.Multicast.Hearing;

namespace QuickSilver.Multicast.Tests.Hearing;

public sealed class HeardMarkTests
{
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);
    private HeardMark _mark;

    [Fact]
    public void A_stream_that_was_never_heard_is_silent_at_once() => Assert.True(_mark.IsSilent(TimeSpan.Zero));

    [Fact]
    public void A_stream_that_was_heard_is_silent_when_nothing_came_for_a_while_after_the_look_that_found_so()
    {
        _mark.Set();
        Assert.False(_mark.IsSilent(Start));
        Assert.False(_mark.IsSilent(Start + (HeardMark.Silence / 2)));
        Assert.True(_mark.IsSilent(Start + HeardMark.Silence));
    }

    [Fact]
    public void A_packet_between_two_looks_begins_the_time_again()
    {
        _mark.Set();
        _mark.IsSilent(Start);
        _mark.Set();
        Assert.False(_mark.IsSilent(Start + HeardMark.Silence));
        Assert.False(_mark.IsSilent(Start + (HeardMark.Silence * 1.5)));
        Assert.True(_mark.IsSilent(Start + (HeardMark.Silence * 2)));
    }
}
