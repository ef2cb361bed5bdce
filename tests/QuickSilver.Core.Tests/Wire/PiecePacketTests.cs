using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

public sealed class PiecePacketTests
{
    private static readonly PacketTemplate Template = new(1, 2, 3, 0, 0);

    [Fact]
    public void A_packet_is_the_sum_of_its_pieces() => Prop.ForAll<ushort, ushort>((size, largest) =>
    {
        int whole = Math.Clamp((int)size, 577, 65_507);
        int stride = Math.Clamp((int)largest, 576, whole - 1) - PiecePacket.HeadBytes;
        byte[] packet = [.. Enumerable.Range(0, whole).Select(static at => (byte)(at * 7))];
        var joined = new List<byte>();
        for (int i = 0; i < PiecePacket.CountOf(whole, stride); i++)
        {
            byte[] bytes = new byte[PiecePacket.HeadBytes + stride];
            int length = PiecePacket.Write(bytes, Template, 4711, packet, stride, i);
            Assert.Equal(DropReason.None, PacketHeader.Validate(bytes.AsSpan(0, length), 1));
            var header = new PacketHeader(bytes.AsSpan(0, length));
            Assert.Equal((PacketKind.Piece, 4711, length), (header.Kind, header.Sequence, (int)header.Length));
            Assert.True(PiecePacket.TryRead(header.Body, out var piece));
            Assert.Equal((whole, stride, i), (piece.WholeBytes, piece.Stride, piece.Index));
            joined.AddRange(piece.Content);
        }

        Assert.Equal(packet, joined);
    }).Check(Config.QuickThrowOnFailure);

    [Fact]
    public void A_malformed_piece_is_refused() => Prop.ForAll<byte[]>(body =>
    {
        if (PiecePacket.TryRead(body, out var piece))
        {
            Assert.InRange(piece.Index, 0, piece.Count - 1);
            Assert.InRange(piece.Count, 2, PiecePacket.MostPieces);
            Assert.True((piece.Index * piece.Stride) + piece.Content.Length <= piece.WholeBytes);
        }
    }).Check(Config.QuickThrowOnFailure);

    [Theory]
    [InlineData(100, 0, 0, 10)]
    [InlineData(63, 10, 0, 10)]
    [InlineData(100, 100, 0, 100)]
    [InlineData(100, 50, 2, 50)]
    [InlineData(100, 50, 1, 49)]
    [InlineData(65_000, 100, 1, 100)]
    public void Contradictions_are_refused(int whole, int stride, int index, int content)
    {
        byte[] body = [.. BitConverter.GetBytes((ushort)whole), .. BitConverter.GetBytes((ushort)stride),
            .. BitConverter.GetBytes((ushort)index), 0, 0, .. new byte[content]];
        Assert.False(PiecePacket.TryRead(body, out _));
    }
}
