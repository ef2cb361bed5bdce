using System.Text;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Generators.Tests;

// Payloads of generated codecs, read and written by their schema alone.
public sealed class DynamicPayloadTests
{
    private static readonly Gen<Displayed> Displays =
        from open in Gen.Choose(0, 255)
        from wide in Gen.Elements(Wide.None, Wide.Far, Wide.Below, (Wide)77)
        from largest in Gen.Elements(Largest.Zero, Largest.All, (Largest)5, (Largest)(1UL << 63))
        from letters in Gen.Choose(0, char.MaxValue).ListOf(3)
        from days in Gen.Choose(0, DateOnly.MaxValue.DayNumber).ListOf(3)
        from ticks in Gen.Choose(0, int.MaxValue)
        from color in Gen.Choose(-1, 4)
        from small in Gen.Choose(short.MinValue, short.MaxValue)
        select new Displayed(
            (Doors)open,
            largest,
            letters.Distinct().ToDictionary(static letter => (char)letter, letter => (Doors)(letter & 0xFF)),
            [.. days.Select(DateOnly.FromDayNumber)],
            small % 3 == 0 ? null : new TimeOnly(400L * ticks),
            (char)letters[0],
            color < 0 ? null : (Color)color,
            wide,
            color == 0 ? "" : null,
            new Uri("https://example.org/"),
            (short)small,
            (Half)small,
            [(byte)open]);

    [Fact]
    public void A_payload_that_becomes_json_and_a_payload_again_is_the_same_value()
    {
        Holds(Values.Times);
        Holds(Values.Converted);
        Holds(Values.Sets);
        Holds(Values.Optionals);
        Holds(Values.Maps);
        Holds(Values.Trees);
        Holds(Values.Collections);
        Holds(Displays.ToArbitrary());
    }

    [Fact]
    public void Enums_dates_and_letters_are_in_clear()
    {
        var value = new Displayed(
            Doors.Left | Doors.Rear, Largest.All, new() { ['5'] = Doors.None }, [new DateOnly(2026, 1, 31)],
            new TimeOnly(12, 30, 15, 500), 'x', Color.Green, Wide.Below, null, new Uri("https://example.org/"), -7, (Half)0.5, [1]);
        Assert.Equal(
            """
            {"Open":"Left, Rear","Largest":"All","ByLetter":{"5":"None"},"Days":["2026-01-31"],"At":"12:30:15.5","Letter":"x",
            "Color":"Green","Wide":"Below","Page":"https://example.org/","Small":-7,"Share":0.5,"Bytes":[1]}
            """.Replace("\n", "", StringComparison.Ordinal),
            Json(value));
    }

    [Fact]
    public void Fields_have_the_names_of_their_members()
    {
        var tree = new Tree { Name = "root", Children = { new Tree { Name = "leaf" } } };
        Assert.Equal("""{"Name":"root","Children":[{"Name":"leaf","Children":[]}]}""", Json(tree));
    }

    [Fact]
    public void An_empty_payload_is_shown_as_a_handler_gets_it()
    {
        string shown = Encoding.UTF8.GetString(Shown<Displayed>([]).Span);
        Assert.Equal(shown, Json(Codecs.Decode<Displayed>([])));
        Assert.StartsWith("""{"Open":"None","Largest":"Zero","ByLetter":{},"Days":[],""", shown, StringComparison.Ordinal);
    }

    private static void Holds<T>(Arbitrary<T> values) => Prop.ForAll(values, value =>
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        string json = Json(value);
        using var document = JsonDocument.Parse(json, JsonToPayload.DocumentOptions);
        var again = Codecs.Decode<T>(new JsonToPayload(new DynamicSchema(codec.Schema)).Convert(document.RootElement));
        // The bits of a NaN are not kept.
        Assert.True(json.Contains("NaN", StringComparison.Ordinal) || Codecs.Encode(value).AsSpan().SequenceEqual(Codecs.Encode(again)));
        Assert.Equal(json, Json(again));
    }).QuickCheckThrowOnFailure();

    private static string Json<T>(T value) => Encoding.UTF8.GetString(Shown<T>(Codecs.Encode(value)).Span);

    private static ReadOnlyMemory<byte> Shown<T>(byte[] payload)
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        using var reader = new PayloadToJson(new DynamicSchema(codec.Schema));
        return reader.Convert(payload).ToArray();
    }
}
