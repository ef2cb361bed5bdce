using System.Text;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

public sealed class Crc32CTests
{
    [Fact]
    public void The_check_value_is_that_of_the_standard() =>
        Assert.Equal(0xE306_9283U, ~Crc32C.Append(uint.MaxValue, Encoding.ASCII.GetBytes("123456789")));

    // RFC 3720, appendix B.4.
    [Fact]
    public void Thirty_two_zeros_have_the_sum_of_the_standard() =>
        Assert.Equal(0x8A91_36AAU, ~Crc32C.Append(uint.MaxValue, new byte[32]));

    [Fact]
    public void Each_way_has_the_same_sum_for_every_length()
    {
        var bytes = new byte[3000];
        new Random(1).NextBytes(bytes);
        for (int length = 0; length <= bytes.Length; length++)
        {
            AssertSame(7, bytes.AsSpan(bytes.Length - length));
        }
    }

    [Fact]
    public void A_packets_sum_reads_its_own_place_as_zero_at_every_length()
    {
        var bytes = new byte[3000];
        new Random(2).NextBytes(bytes);
        for (int length = PacketHeader.Bytes; length <= bytes.Length; length++)
        {
            var packet = bytes[^length..];
            uint sum = PacketChecksum.Compute(packet);
            packet.AsSpan(PacketHeader.ChecksumOffset, sizeof(uint)).Clear();
            Assert.Equal(~Crc32C.ByWords(uint.MaxValue, packet), sum);
        }
    }

    [Theory]
    [InlineData(65_451)]
    [InlineData(65_536)]
    [InlineData(65_537)]
    public void The_longest_packets_too(int length)
    {
        var bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        AssertSame(uint.MaxValue, bytes);
    }

    [Fact]
    public void A_sum_continues_from_any_place()
    {
        Prop.ForAll(ArbMap.Default.ArbFor<(byte[] First, byte[] Second, uint Sum)>(), parts =>
        {
            // Long enough for each way.
            var first = Enumerable.Repeat(parts.First, 20).SelectMany(part => part).ToArray();
            var second = Enumerable.Repeat(parts.Second, 20).SelectMany(part => part).ToArray();
            return Crc32C.Append(parts.Sum, [.. first, .. second]) == Crc32C.Append(Crc32C.Append(parts.Sum, first), second);
        }).QuickCheckThrowOnFailure();
    }

    private static void AssertSame(uint sum, ReadOnlySpan<byte> bytes)
    {
        uint expected = Crc32C.ByWords(sum, bytes);
        Assert.Equal(expected, Crc32C.Append(sum, bytes));
        if (Crc32C.CanUseLanes && bytes.Length is >= Crc32C.LeastInLanes and <= 1 << 16)
        {
            Assert.Equal(expected, Crc32C.InLanes(sum, bytes));
        }

        if (Crc32C.CanFold && bytes.Length >= Crc32C.LeastFolded)
        {
            Assert.Equal(expected, Crc32C.Fold(sum, bytes));
        }
    }
}
