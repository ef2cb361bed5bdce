using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

// Covers T9, T10, T11 and F18 for ranges in packets.
public sealed class SequenceRangesWireTests
{
    private const int Max = 64;

    [Fact]
    public void The_form_is_a_count_and_then_skip_and_extra_per_range()
    {
        var wire = new byte[64];
        int length = SequenceRangesTests.SetOf((10, 10), (12, 14), (1000, 1000)).WriteTo(wire, 10, Max);

        // 1000 lies 984 past 16, the least number that could follow 14: 984 is 0xD8 0x07.
        Assert.Equal([3, 0, 0, 0, 0, 2, 0xD8, 0x07, 0], wire[..length]);
    }

    [Fact]
    public void Numbers_below_the_base_are_not_written()
    {
        var wire = new byte[64];
        int length = SequenceRangesTests.SetOf((1, 3), (5, 20), (30, 31)).WriteTo(wire, 10, Max);
        Assert.Equal("10..20, 30..31", Read(wire.AsSpan(0, length), 10).ToString());
    }

    [Fact]
    public void Sets_come_back_as_they_were_written_as_far_as_limit_and_room_allow()
    {
        Steps.Hold(steps =>
        {
            bool isHigh = steps.Length % 2 == 1;
            long origin = isHigh ? SequenceRanges.MaxNumber - 100_000_000 : 0;
            var set = new SequenceRanges(Max);
            foreach (int step in steps)
            {
                // Short and long skips, so that varints of several lengths occur.
                long first = origin + (step % 2 == 0 ? step / 2 % 200 : step / 2 % 99_000_000);
                set.Add(first, first + step / 4 % 300);
            }

            long baseSequence = set.IsEmpty ? origin : set[0].First;
            var wire = new byte[SequenceRanges.MaxWireBytes(Max)];
            int whole = set.WriteTo(wire, baseSequence, Max, out int written);
            Assert.Equal(set.Count, written);
            Assert.Equal(set.Ranges.ToArray(), Read(wire.AsSpan(0, whole), baseSequence).Ranges.ToArray());

            foreach (int room in (int[])[2, whole / 2 + 1, whole - 1])
            {
                if (room >= 2)
                {
                    var small = new byte[room];
                    int length = set.WriteTo(small, baseSequence, 5, out int fitting);
                    Assert.True(fitting <= 5);
                    Assert.Equal(set.Ranges[..fitting].ToArray(), Read(small.AsSpan(0, length), baseSequence).Ranges.ToArray());
                }
            }
        });
    }

    [Fact]
    public void The_top_of_the_numbers_can_be_written_and_read()
    {
        var set = SequenceRangesTests.SetOf((0, 0), (SequenceRanges.MaxNumber, SequenceRanges.MaxNumber));
        var wire = new byte[64];
        int length = set.WriteTo(wire, 0, Max);
        Assert.Equal(set.Ranges.ToArray(), Read(wire.AsSpan(0, length), 0).Ranges.ToArray());
    }

    [Fact]
    public void Every_truncation_is_refused_and_leaves_nothing()
    {
        var wire = new byte[64];
        int length = SequenceRangesTests.SetOf((10, 10), (12, 14), (1000, 100_000)).WriteTo(wire, 10, Max);
        for (int cut = 0; cut < length; cut++)
        {
            var into = SequenceRangesTests.SetOf((1, 2));
            Assert.False(SequenceRanges.TryRead(wire.AsSpan(0, cut), 10, 0, SequenceRanges.MaxNumber, Max, into, out int consumed));
            Assert.Equal(0, consumed);
            Assert.True(into.IsEmpty);
        }
    }

    [Fact]
    public void A_tiny_packet_that_names_a_huge_range_is_clamped_and_told()
    {
        var wire = new byte[64];
        int length = SequenceRangesTests.SetOf((5, 6), (8, SequenceRanges.MaxNumber)).WriteTo(wire, 0, Max);
        var into = new SequenceRanges(Max);

        Assert.True(SequenceRanges.TryRead(wire.AsSpan(0, length), 0, 6, 100, Max, into, out _, out int refused));
        Assert.Equal("6, 8..100", into.ToString());
        Assert.Equal(2, refused);

        Assert.True(SequenceRanges.TryRead(wire.AsSpan(0, length), 0, 100, 6, Max, into, out _, out refused));
        Assert.True(into.IsEmpty);
        Assert.Equal(2, refused);
    }

    [Fact]
    public void More_ranges_than_the_cap_or_the_set_takes_are_refused()
    {
        var wire = new byte[64];
        int length = SequenceRangesTests.SetOf((1, 1), (3, 3), (5, 5)).WriteTo(wire, 0, Max);

        Assert.False(SequenceRanges.TryRead(wire.AsSpan(0, length), 0, 0, 100, 2, new SequenceRanges(Max), out _));
        Assert.False(SequenceRanges.TryRead(wire.AsSpan(0, length), 0, 0, 100, Max, new SequenceRanges(2), out _));
        Assert.True(SequenceRanges.TryRead(wire.AsSpan(0, length), 0, 0, 100, 3, new SequenceRanges(3), out _));
    }

    [Theory]
    [InlineData(new byte[] { 1, 0, 0x80, 0x00, 0 })]
    [InlineData(new byte[] { 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0 })]
    [InlineData(new byte[] { 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0 })]
    [InlineData(new byte[] { 1, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F })]
    public void Padded_overlong_and_overflowing_numbers_are_refused(byte[] wire)
    {
        Assert.False(SequenceRanges.TryRead(wire, 0, 0, SequenceRanges.MaxNumber, Max, new SequenceRanges(Max), out _));
    }

    [Fact]
    public void Random_bytes_never_throw_and_never_leave_the_clamp()
    {
        int accepted = 0;
        Steps.HoldForBytes(
            bytes =>
            {
                // Half of the runs get a count that can be met: else nearly all would end there.
                if (bytes.Length > 2 && bytes[0] % 2 == 0)
                {
                    bytes[0] = (byte)(bytes[0] % 8);
                    bytes[1] = 0;
                }

                long baseSequence = bytes.Length > 12 ? BitConverter.ToInt64(bytes, bytes.Length - 8) >> (bytes[2] % 64) : -1;
                var into = new SequenceRanges(16);
                if (SequenceRanges.TryRead(bytes, baseSequence, 100, 10_000, Max, into, out int consumed))
                {
                    accepted++;
                    Assert.InRange(consumed, 2, bytes.Length);
                    Assert.True(into.IsEmpty || (into[0].First >= 100 && into[into.Count - 1].Last <= 10_000));
                    AssertOneWayToWrite(bytes, baseSequence, consumed);
                }
                else
                {
                    Assert.Equal(0, consumed);
                    Assert.True(into.IsEmpty);
                }
            },
            runs: 2000);

        Assert.True(accepted > 100, $"Only {accepted} inputs were accepted: the test does not reach the ranges.");
    }

    private static void AssertOneWayToWrite(byte[] bytes, long baseSequence, int consumed)
    {
        var all = new SequenceRanges(16);
        Assert.True(SequenceRanges.TryRead(bytes, baseSequence, 0, SequenceRanges.MaxNumber, Max, all, out _));
        var again = new byte[SequenceRanges.MaxWireBytes(16)];
        int length = all.WriteTo(again, baseSequence, Max);
        Assert.Equal(bytes[..consumed], again[..length]);
    }

    private static SequenceRanges Read(ReadOnlySpan<byte> wire, long baseSequence)
    {
        var into = new SequenceRanges(Max);
        Assert.True(SequenceRanges.TryRead(wire, baseSequence, 0, SequenceRanges.MaxNumber, Max, into, out int consumed, out int refused));
        Assert.Equal(wire.Length, consumed);
        Assert.Equal(0, refused);
        return into;
    }
}
