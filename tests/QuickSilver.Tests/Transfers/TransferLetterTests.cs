using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Transfers;

namespace QuickSilver.Tests.Transfers;

public sealed class TransferLetterTests
{
    [Theory]
    [InlineData((int)TransferLetterKind.Pull, 0, 0)]
    [InlineData((int)TransferLetterKind.Pull, long.MaxValue, ITransfers.MostSubjectBytes)]
    [InlineData((int)TransferLetterKind.Taken, 1 << 20, 0)]
    [InlineData((int)TransferLetterKind.Stop, 0, 0)]
    [InlineData((int)TransferLetterKind.Chunk, 1, 1)]
    [InlineData((int)TransferLetterKind.End, 0, 0)]
    [InlineData((int)TransferLetterKind.Declined, (long)TransferFailure.Unreadable, 0)]
    public void A_letter_is_read_as_it_was_written(int kind, long value, int body)
    {
        byte[] bytes = Written((TransferLetterKind)kind, value, body);
        Assert.True(TransferLetter.TryRead(bytes, out var letter));
        Assert.Equal(((TransferLetterKind)kind, 77, 5, value), (letter.Kind, letter.Number, letter.Chunks, letter.Value));
        Assert.Equal(body, letter.Body.Length);
    }

    [Theory]
    [InlineData((int)TransferLetterKind.Pull, -1, 0)]
    [InlineData((int)TransferLetterKind.Pull, 0, ITransfers.MostSubjectBytes + 1)]
    [InlineData((int)TransferLetterKind.Taken, -1, 0)]
    [InlineData((int)TransferLetterKind.Taken, 0, 1)]
    [InlineData((int)TransferLetterKind.Stop, 0, 1)]
    [InlineData((int)TransferLetterKind.Chunk, 1, 0)]
    [InlineData((int)TransferLetterKind.Chunk, -1, 1)]
    [InlineData((int)TransferLetterKind.End, 0, 1)]
    [InlineData((int)TransferLetterKind.Declined, (long)TransferFailure.Silent, 0)]
    [InlineData((int)TransferLetterKind.Declined, (long)TransferFailure.Busy, 1)]
    [InlineData(6, 0, 0)]
    public void A_letter_out_of_its_range_is_malformed(int kind, long value, int body) =>
        Assert.False(TransferLetter.TryRead(Written((TransferLetterKind)kind, value, body), out _));

    [Fact]
    public void A_letter_that_is_cut_is_malformed()
    {
        byte[] bytes = Written(TransferLetterKind.Pull, 1, body: 0);
        for (int length = 0; length < bytes.Length; length++)
        {
            Assert.False(TransferLetter.TryRead(bytes.AsSpan(0, length), out _));
        }
    }

    private static byte[] Written(TransferLetterKind kind, long value, int body)
    {
        byte[] bytes = new byte[TransferLetter.HeaderBytes + body];
        TransferLetter.WriteHeader(bytes, kind, number: 77, value, chunks: 5);
        return bytes;
    }
}
