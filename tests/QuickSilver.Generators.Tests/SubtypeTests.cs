using System.Text;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Generators.Tests;

// Values of a type with declared subtypes: what is written, and what versions of the type make of each other's.
public sealed class SubtypeTests
{
    private static readonly Gen<string> Texts = ArbMap.Default.GeneratorFor<NonNull<string>>()
        .Select(static text => string.Concat(text.Get.Where(static c => !char.IsSurrogate(c))));

    private static readonly Arbitrary<Movement> Movements = MovementOf(3).ToArbitrary();

    private static readonly Arbitrary<Ledger> Ledgers =
        (from last in Gen.OneOf(Gen.Constant<Movement?>(null), MovementOf(1).Select(static one => (Movement?)one))
         from all in MovementOf(1).ListOf()
         from named in MovementOf(1).ListOf()
         from figures in Figures().ListOf()
         from figure in Gen.OneOf(Gen.Constant<IFigure?>(null), Figures().Select(static one => (IFigure?)one))
         select new Ledger
         {
             Last = last,
             All = [.. all],
             ByName = named.Select(static (one, i) => (one, i)).ToDictionary(static pair => $"{pair.i}", static pair => pair.one),
             Figures = [.. figures],
             Figure = figure,
         }).ToArbitrary();

    [Fact]
    public void A_value_is_the_number_of_its_subtype_and_the_subtypes_message()
    {
        Assert.Equal([10, 5, 10, 1, (byte)'a', 80, 7], Codecs.Encode<Movement>(new Deposit("a", 0) { Version = 7 }));
        Assert.Equal([26, 3, 10, 1, (byte)'a'], Codecs.Encode<Movement>(new Fee("a")));
        Assert.Equal([10, 0], Codecs.Encode<IFigure>(new Circle(0)));
        Assert.Equal([0xC2, 12, 0], Codecs.Encode<IFigure>(new Square()));
        // On a topic of its own, it is its message.
        Assert.Equal([10, 1, (byte)'a'], Codecs.Encode(new Fee("a")));
    }

    [Fact]
    public void Values_round_trip() => Prop.ForAll(Movements, value =>
        Assert.Equal(value, Codecs.Decode<Movement>(Codecs.Encode(value)))).QuickCheckThrowOnFailure();

    [Fact]
    public void Values_in_members_collections_and_dictionaries_round_trip() => Prop.ForAll(Ledgers, value =>
    {
        var back = Codecs.Decode<Ledger>(Codecs.Encode(value));
        Assert.Equal(value.Last, back.Last);
        Assert.Equal(value.All, back.All);
        Assert.Equal(value.ByName, back.ByName);
        Assert.Equal(value.Figures, back.Figures);
        Assert.Equal(value.Figure, back.Figure);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_payload_that_becomes_json_and_a_payload_again_is_the_same_value() => Prop.ForAll(Ledgers, value =>
    {
        var schema = new DynamicSchema(Codecs.Of<Ledger>().Schema);
        using var reader = new PayloadToJson(schema);
        using var document = JsonDocument.Parse(reader.Convert(Codecs.Encode(value)), JsonToPayload.DocumentOptions);
        Assert.Equal(Codecs.Encode(value), Codecs.Encode(Codecs.Decode<Ledger>(new JsonToPayload(schema).Convert(document.RootElement))));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void The_name_of_the_subtype_is_shown()
    {
        using var reader = new PayloadToJson(new DynamicSchema(Codecs.Of<Movement>().Schema));
        Assert.Equal(
            """{"Deposit":{"Account":"a","Amount":0,"Version":7}}""",
            Encoding.UTF8.GetString(reader.Convert(Codecs.Encode<Movement>(new Deposit("a", 0) { Version = 7 })).Span));
        Assert.Equal(
            """{"fee":{"Account":"a","Version":0}}""",
            Encoding.UTF8.GetString(reader.Convert(Codecs.Encode<Movement>(new Fee("a"))).Span));
    }

    [Fact]
    public void The_schema_has_a_field_for_each_subtype()
    {
        var schema = Codecs.Of<Movement>().Schema;
        Assert.Equal(
            [
                new PayloadField(1, "Deposit", "message") { Message = 1, IsNullable = true, LogicalType = LogicalType.Subtype },
                new PayloadField(2, "Transfer", "message") { Message = 2, IsNullable = true, LogicalType = LogicalType.Subtype },
                new PayloadField(3, "fee", "message") { Message = 3, IsNullable = true, LogicalType = LogicalType.Subtype },
            ],
            schema.Fields.ToArray());
        Assert.Equal(
            new PayloadField(4, "Cause", "message") { Message = 0, IsNullable = true },
            schema.Nested[1].Fields.Single(static one => one.Number == 4));
    }

    [Fact]
    public void A_value_of_a_type_that_is_not_declared_is_refused_when_it_is_written()
    {
        var refusal = Assert.Throws<NotSupportedException>(() => Codecs.Encode<Movement>(new Special("a", "b", null)));
        Assert.Contains("Special is not a declared subtype of QuickSilver.Generators.Tests.Contracts.Movement", refusal.Message);
        Assert.Contains("[Subtype(n, typeof(Special))]", refusal.Message);
        Assert.Throws<NotSupportedException>(() => Codecs.Encode(new Ledger { All = [new Special("a", "b", null)] }));
        Assert.Throws<ArgumentNullException>(() => Codecs.Of<Movement>().GetSize(null!));
    }

    [Fact]
    public void An_older_reader_takes_the_subtypes_that_it_knows_and_says_of_others_what_to_do()
    {
        var known = Codecs.Encode<Newer.ISignal>(new Newer.Start(4, "because"));
        Assert.Equal(new Older.Start(4), Codecs.Decode<Older.ISignal>(known));
        var unknown = Codecs.Encode<Newer.ISignal>(new Newer.Stop(4));
        var failure = Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Older.ISignal>(unknown));
        Assert.Contains("a subtype of QuickSilver.Generators.Tests.Contracts.Older+ISignal that this program", failure.Message);
        Assert.Contains("upgrade the readers before its publishers", failure.Message);
        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Older.ISignal>([]));
    }

    [Fact]
    public void A_newer_reader_takes_what_an_older_program_writes() => Assert.Equal(
        new Newer.Start(4, null), Codecs.Decode<Newer.ISignal>(Codecs.Encode<Older.ISignal>(new Older.Start(4))));

    [Fact]
    public void Bytes_of_anything_are_refused_as_malformed_or_read() =>
        Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(), bytes =>
        {
            try
            {
                Codecs.Decode<Movement>(bytes);
            }
            catch (PayloadFormatException)
            {
            }
        }).QuickCheckThrowOnFailure();

    private static Gen<Movement> MovementOf(int depth)
    {
        var plain = from account in Texts
                    from version in ArbMap.Default.GeneratorFor<int>()
                    from amount in ArbMap.Default.GeneratorFor<int>()
                    from isFee in Gen.Elements(true, false)
                    select isFee
                        ? (Movement)new Fee(account) { Version = version }
                        : new Deposit(account, amount) { Version = version };
        if (depth == 0)
        {
            return plain;
        }

        var transfer = from account in Texts
                       from to in Texts
                       from cause in Gen.OneOf(
                           Gen.Constant<Movement?>(null), MovementOf(depth - 1).Select(static one => (Movement?)one))
                       select (Movement)new Transfer(account, to, cause);
        return Gen.OneOf(plain, transfer);
    }

    private static Gen<IFigure> Figures() =>
        from size in Gen.Choose(0, 100)
        from isCircle in Gen.Elements(true, false)
        select isCircle ? (IFigure)new Circle(size) : new Square { Side = size };
}
