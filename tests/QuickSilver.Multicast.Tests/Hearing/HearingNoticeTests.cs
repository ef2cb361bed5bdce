using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;

namespace QuickSilver.Multicast.Tests.Hearing;

public sealed class HearingNoticeTests
{
    private static readonly NodeKey Origin = new(77, 8);

    [Theory]
    [InlineData(0, "Probe")]
    [InlineData(1, "Asks")]
    [InlineData(2, "Deaf")]
    [InlineData(3, "Hears")]
    [InlineData(4, "Served")]
    [InlineData(5, "Unserved")]
    [InlineData(6, "NoGroups")]
    public void A_notice_names_the_sender_and_the_word(byte number, string word)
    {
        var packet = new byte[HearingNotice.Bytes];
        new HearingNotice(Origin, Enum.Parse<HearingWord>(word)).Write(packet, new PacketTemplate(1, 2, 3, 4, 5), probe: 9);

        Assert.Equal(DropReason.None, PacketHeader.Validate(packet, 1));
        var header = new PacketHeader(packet);
        Assert.Equal(PacketKind.Hearing, header.Kind);
        Assert.Equal(9, header.Sequence);
        Assert.Equal(number, header.Body[12]);
        Assert.True(HearingNotice.TryRead(header.Body, out var notice));
        Assert.Equal(new HearingNotice(Origin, (HearingWord)number), notice);
    }

    [Theory]
    [InlineData(12, 0)]
    [InlineData(13, 7)]
    [InlineData(13, 255)]
    public void A_notice_that_is_cut_short_or_has_no_known_word_is_refused(int bytes, byte word)
    {
        var body = new byte[13];
        body[12] = word;

        Assert.False(HearingNotice.TryRead(body.AsSpan(0, bytes), out _));
    }
}
