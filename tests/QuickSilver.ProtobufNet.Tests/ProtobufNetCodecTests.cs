using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.ProtobufNet.Tests;

// The same bytes from both libraries, and each reads the other's.
public sealed class ProtobufNetCodecTests
{
    // protobuf-net multiplies milliseconds in floating point when it reads a TimeSpan, which is not exact beyond some 450 years.
    private const long ExactTicks = 1L << 56;

    private static readonly Arbitrary<Departure> Departures = (
        from flight in ArbMap.Default.GeneratorFor<NonEmptyString>()
        from passengers in ArbMap.Default.GeneratorFor<int>()
        from price in ArbMap.Default.GeneratorFor<decimal>()
        from id in ArbMap.Default.GeneratorFor<Guid>()
        from at in ArbMap.Default.GeneratorFor<DateTime>()
        from took in ArbMap.Default.GeneratorFor<TimeSpan>()
        from miles in ArbMap.Default.GeneratorFor<NormalFloat>().ListOf()
        from gate in ArbMap.Default.GeneratorFor<int?>()
        from day in Gen.Choose(0, 6)
        from blob in ArbMap.Default.GeneratorFor<byte[]>()
        select new Departure
        {
            Flight = flight.Item,
            Passengers = passengers,
            Price = price,
            Id = id,
            At = at,
            Took = TimeSpan.FromTicks(took.Ticks % ExactTicks),
            First = new Leg { From = flight.Item },
            Legs = [.. miles.Select(mile => new Leg { Miles = mile.Item })],
            Seats = miles.Select((_, index) => index).ToDictionary(index => $"row {index}", index => index),
            Gate = gate,
            Day = (DayOfWeek)day,
            Blob = blob,
            Next = new Departure { Passengers = passengers },
            Date = DateOnly.FromDateTime(at),
            Time = TimeOnly.FromDateTime(at),
            Page = blob is null ? null : new Uri($"https://example.org/{passengers}"),
            Codes = [.. miles.Select((_, index) => $"code {index}")],
            Until = gate is null ? null : DateOnly.FromDateTime(at),
            Counts = miles.Select((_, index) => index).ToDictionary(index => $"count {index}", index => index),
        }).ToArbitrary();

    [Fact]
    public void Both_libraries_write_the_same_bytes_and_read_each_others()
    {
        Assert.True(GeneratedCodecs.TryGet<Departure>(out var generated));
        var adapter = new ProtobufNetCodec<Departure>();
        Prop.ForAll(Departures, value =>
        {
            byte[] ours = Encode(generated!, value);
            byte[] theirs = Encode(adapter, value);
            Assert.Equal(ours, theirs);
            Assert.Equal(theirs, Encode(adapter, adapter.Read(ours)));
            Assert.Equal(ours, Encode(generated!, generated!.Read(theirs)));
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Malformed_bytes_are_a_format_error()
    {
        Assert.Throws<PayloadFormatException>(() => new ProtobufNetCodec<Departure>().Read([10, 200, 1, 2]));
    }

    private static byte[] Encode<T>(IPayloadCodec<T> codec, T value)
    {
        var bytes = new byte[codec.GetSize(in value)];
        Assert.Equal(bytes.Length, codec.Write(in value, bytes));
        return bytes;
    }
}
