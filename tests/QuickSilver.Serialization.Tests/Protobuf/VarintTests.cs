using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Tests.Protobuf;

// A varint as one word is the varint that a loop over its bytes makes, with the processor's bit moves and without.
public sealed class VarintTests
{
    private static readonly Arbitrary<ulong> Values = Gen.Choose(0, 64)
        .SelectMany(width => ArbMap.Default.GeneratorFor<DoNotSize<ulong>>()
            .Select(value => width == 0 ? 0 : value.Item >> (64 - width)))
        .ToArbitrary();

    [Fact]
    public void Any_value_is_written_as_a_loop_would() => Prop.ForAll(Values, value =>
    {
        byte[] expected = Loop(value);
        byte[] room = new byte[Varint.MaxBytes];
        Assert.Equal(expected.Length, Varint.Write(ref room[0], value));
        Assert.Equal(expected, room[..expected.Length]);
        Assert.Equal(expected.Length, ProtobufSize.UInt64(value));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Shifts_do_what_the_processor_does() => Prop.ForAll(Values, value =>
    {
        ulong small = value & Varint.MaxInWord;
        Assert.Equal(Varint.Spread(small), Varint.SpreadByShifts(small));
        Assert.Equal(small, Varint.GatherByShifts(Varint.SpreadByShifts(small)));
        Assert.Equal(Varint.Gather(value), Varint.GatherByShifts(value));
        for (int bytes = 1; bytes <= 8; bytes++)
        {
            ulong mask = 0x7F7F7F7F7F7F7F7FUL >> (64 - (8 * bytes));
            Assert.Equal(Varint.Gather(value, mask), Varint.GatherByShifts(value & mask));
        }
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_writer_writes_the_same_with_much_room_and_with_just_enough() => Prop.ForAll(Values, value =>
    {
        foreach (uint tag in new uint[] { 8, 0x78, 0x80, 0x3FF8, 0x4000, uint.MaxValue - 7 })
        {
            byte[] expected = [.. Loop(tag), .. Loop(value)];
            for (int room = expected.Length; room < expected.Length + 24; room++)
            {
                byte[] bytes = new byte[room];
                var writer = new ProtobufWriter(bytes);
                writer.WriteUInt64(tag, value);
                Assert.Equal(expected, bytes[..writer.Written]);
            }

            Assert.Throws<ArgumentException>(() => new ProtobufWriter(new byte[expected.Length - 1]).WriteUInt64(tag, value));
        }
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_reader_reads_the_field_that_it_tries_or_leaves_all_as_it_was() => Prop.ForAll(Values, value =>
    {
        foreach (uint tag in new uint[] { 8, 0x78, 0x80, 0x3FF8 })
        {
            byte[] field = [.. Loop(tag), .. Loop(value)];
            for (int after = 0; after < 16; after++)
            {
                var reader = new ProtobufReader([.. field, .. new byte[after]]);
                Assert.False(reader.TryReadVarint(tag + 8, out _));
                Assert.True(reader.TryReadVarint(tag, out ulong read));
                Assert.Equal(value, read);
                Assert.Equal(after, reader.CountFixed(1));
            }
        }
    }).QuickCheckThrowOnFailure();

    private static byte[] Loop(ulong value)
    {
        var bytes = new List<byte>();
        for (; value >= 0x80; value >>= 7)
        {
            bytes.Add((byte)(value | 0x80));
        }

        bytes.Add((byte)value);
        return [.. bytes];
    }
}
