using QuickSilver.Membership.Views;
using QuickSilver.Receipts.Protocol;

namespace QuickSilver.Receipts.Tests;

public sealed class ReceiptStateTests
{
    private static readonly NodeKey One = new(1, 1);
    private static readonly NodeKey Two = new(2, 1);

    [Fact]
    public void A_receipt_counts_once_and_only_if_it_can_be_true()
    {
        var confirmed = new ConfirmedMessages();
        confirmed.SetMembers([One, Two]);
        confirmed.OnSent(3);
        Assert.True(confirmed.TryConfirm(One, 2));
        Assert.False(confirmed.TryConfirm(One, 2));
        Assert.False(confirmed.TryConfirm(One, 1));
        Assert.False(confirmed.TryConfirm(One, 4));
        Assert.False(confirmed.TryConfirm(new NodeKey(3, 1), 3));
        Assert.Equal([One, Two], confirmed.Lacking());
        Assert.True(confirmed.TryConfirm(One, 3));
        Assert.Equal([Two], confirmed.Lacking());
        confirmed.SetMembers([One, new NodeKey(3, 1)]);
        Assert.Empty(confirmed.Lacking());
    }

    [Fact]
    public void A_receipt_is_due_after_so_many_messages_or_when_it_is_asked_for()
    {
        var taken = new TakenMessages(every: 3);
        Assert.False(taken.OnTaken(One, 1));
        Assert.False(taken.OnTaken(One, 2));
        Assert.True(taken.OnTaken(One, 3));
        taken.OnSent(One);
        Assert.False(taken.OnTaken(One, 4));
        taken.OnAsked(One);
        Assert.Equal([One], taken.Due);
        Assert.Equal(4, taken.ThroughOf(One));
        taken.OnAsked(Two);
        Assert.DoesNotContain(Two, taken.Due);
        taken.Forget(One);
        Assert.Empty(taken.Due);
    }

    [Fact]
    public void A_letter_reads_what_was_written_and_a_short_one_is_refused()
    {
        byte[] letter = new byte[ReceiptLetter.Bytes];
        new ReceiptLetter(7, 9).Write(letter);
        Assert.True(ReceiptLetter.TryRead(letter, out var read));
        Assert.Equal(new ReceiptLetter(7, 9), read);
        Assert.False(ReceiptLetter.TryRead(letter.AsSpan(1), out _));
    }
}
