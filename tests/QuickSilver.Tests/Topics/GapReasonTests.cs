using QuickSilver.Multicast.Channels;

namespace QuickSilver.Tests.Topics;

public sealed class GapReasonTests
{
    [Fact]
    public void Each_reason_of_the_multicast_layer_is_another_public_one()
    {
        var reasons = Enum.GetValues<TopicGapReason>();
        Assert.Equal(reasons.Length, reasons.Select(GapReasons.Of).Distinct().Count());
        Assert.Throws<ArgumentOutOfRangeException>(() => GapReasons.Of((TopicGapReason)99));
    }

    [Fact]
    public void Each_reason_has_words_of_its_own()
    {
        var reasons = Enum.GetValues<GapReason>();
        string[] words = [.. reasons.Select(static reason => reason.InWords())];
        Assert.Equal(words.Length, words.Distinct().Count());
        Assert.DoesNotContain(words, static said => said.StartsWith("reason ", StringComparison.Ordinal));
    }

    [Fact]
    public void A_gap_says_its_range_and_its_reason()
    {
        var gap = new GapNotice(new NodeId(0xA, 1), 3, 9, GapReason.Unrepaired);
        Assert.Equal("messages 3 to 9 of 000000000000000a.1: they were lost, and the topic does not repair", gap.ToString());
        Assert.Equal("message 3 of 000000000000000a.1: the sender left", (gap with { Last = 3, Reason = GapReason.SenderLeft }).ToString());
    }
}
