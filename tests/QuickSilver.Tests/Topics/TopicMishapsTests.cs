using QuickSilver.Topics;

namespace QuickSilver.Tests.Topics;

public sealed class TopicMishapsTests
{
    [Fact]
    public void A_message_that_several_endpoints_cannot_decode_counts_once()
    {
        var mishaps = new TopicMishaps();
        var sender = new NodeId(1, 1);

        Assert.True(mishaps.TryNoteUndecodable(sender, 7));
        Assert.False(mishaps.TryNoteUndecodable(sender, 7));
        Assert.True(mishaps.TryNoteUndecodable(new NodeId(1, 2), 7));
        Assert.True(mishaps.TryNoteUndecodable(sender, 8));
    }
}
