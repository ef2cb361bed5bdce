using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.BestEffort;

namespace QuickSilver.Multicast.Tests.Ordering;

public sealed class TopicMarkTests
{
    [Fact]
    public void A_mark_is_the_topic_and_its_last_number()
    {
        var bytes = new byte[TopicMark.Bytes];
        new TopicMark(0x0807_0605_0403_0201, 0x0A09).Write(bytes);

        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0], bytes);
        Assert.True(TopicMark.TryRead(bytes, out var mark));
        Assert.Equal(new TopicMark(0x0807_0605_0403_0201, 0x0A09), mark);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(MessageHeader.MaxNumber + 1)]
    public void A_mark_without_a_number_in_bounds_is_none(long number)
    {
        var bytes = new byte[TopicMark.Bytes];
        new TopicMark(1, number).Write(bytes);

        Assert.False(TopicMark.TryRead(bytes, out _));
        Assert.False(TopicMark.TryRead(bytes.AsSpan(1), out _));
    }
}
