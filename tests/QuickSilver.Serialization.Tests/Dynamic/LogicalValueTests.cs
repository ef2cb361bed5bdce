using System.Text;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Serialization.Tests.Dynamic;

// Numbers that are shown as what they are in .NET.
public sealed class LogicalValueTests
{
    private static readonly PayloadEnum State = new(
        "State", [new("Open", 1), new("Closed", -2), new("Shut", -2), new("Open", 9), new("7", 3), new("a, b", 4), new("", 5)]);

    private static readonly PayloadEnum Doors = new("Doors", [new("None", 0), new("Left", 1), new("Both", 3), new("Right", 2)])
    {
        IsFlags = true,
    };

    private static readonly PayloadSchema Trip = new(
        "Trip",
        PayloadSchema.MessageKind,
        [
            new PayloadField(1, "State", "int32") { Enum = 0 },
            new PayloadField(2, "Doors", "repeated uint32") { Enum = 1 },
            new PayloadField(3, "Day", "int32") { LogicalType = LogicalType.DateOnly },
            new PayloadField(4, "At", "int64") { LogicalType = LogicalType.TimeOnly },
            new PayloadField(5, "Row", "uint32") { LogicalType = LogicalType.Byte },
            new PayloadField(6, "ByLetter", "map<uint32, int32>") { LogicalKeyType = LogicalType.Char, Enum = 0 },
            new PayloadField(7, "Days", "repeated int32") { LogicalType = LogicalType.DateOnly },
            // A schema is not trusted: what does not fit is as if it were not there.
            new PayloadField(8, "Odd", "uint32") { LogicalType = LogicalType.DateOnly },
            new PayloadField(9, "Other", "int32") { LogicalType = "new", Enum = 77 },
            new PayloadField(10, "Text", "string") { LogicalType = LogicalType.Char, Enum = 0 },
        ])
    {
        Enums = [State, Doors],
    };

    [Theory]
    [InlineData("""{"State":"Open"}""", """{"State":1}""")]
    [InlineData("""{"State":"Closed"}""", """{"State":"Shut"}""")]
    [InlineData("""{"State":9}""", """{"State":"9"}""")]
    [InlineData("""{"State":3}""", """{"State":"3"}""")]
    [InlineData("""{"State":4}""", """{"State":4}""")]
    [InlineData("""{"Doors":["None","Left","Both","Left, Right",8,"Right"]}""", """{"Doors":[0,1,"Both","Right,Left",8,2]}""")]
    [InlineData("""{"Day":"2024-02-29"}""", """{"Day":738944}""")]
    [InlineData("""{"At":"12:30:15.0000001"}""", """{"At":450150000001}""")]
    [InlineData("""{"At":"12:30:00"}""", """{"At":"12:30"}""")]
    [InlineData("""{"Row":255}""", """{"Row":"255"}""")]
    [InlineData("""{"ByLetter":{"5":"Open","A":7}}""", """{"ByLetter":{"53":"Open","A":7}}""")]
    [InlineData("""{"Days":["2024-02-29","0001-01-01"]}""", """{"Days":[738944,0]}""")]
    [InlineData("""{"Odd":5,"Other":-6,"Text":"Open"}""", """{"Odd":5,"Other":-6,"Text":"Open"}""")]
    public void Texts_and_numbers_are_read_and_texts_are_shown(string shown, string alike)
    {
        Assert.Equal(shown.Replace("Left, Right", "Both", StringComparison.Ordinal), Read(Write(shown)));
        Assert.Equal(shown.Replace("Left, Right", "Both", StringComparison.Ordinal), Read(Write(alike)));
    }

    [Theory]
    [InlineData(
        """{"State":"Opn"}""", "Field State: expected 'Open', a name of State (Open, Closed, Shut) or its number, but it is \"Opn\".")]
    [InlineData("""{"State":true}""", "Field State: expected a name of State (Open, Closed, Shut) or its number, but it is true.")]
    [InlineData("""{"Day":"2026-02-30"}""", "Field Day: expected a string such as \"2026-01-31\" (DateOnly), but it is \"2026-02-30\".")]
    [InlineData("""{"Day":-1}""", "Field Day: expected a string such as \"2026-01-31\" (DateOnly), but it is -1.")]
    [InlineData("""{"At":"25:00"}""", "Field At: expected a string such as \"12:30:15.5\" (TimeOnly), but it is \"25:00\".")]
    [InlineData("""{"Row":256}""", "Field Row: expected a whole number from 0 to 255 (byte), but it is 256.")]
    [InlineData("""{"ByLetter":{"xy":1}}""", "Key ByLetter[xy]: expected a string of one character (char).")]
    public void A_value_that_does_not_fit_is_named_with_what_is_expected(string json, string said) =>
        Assert.Equal(said, Assert.Throws<PayloadFormatException>(() => Write(json)).Message);

    [Fact]
    public void Dates_in_a_list_are_written_one_by_one() =>
        Assert.Equal([0x38, 1, 0x38, 2], Write("""{"Days":["0001-01-02","0001-01-03"]}"""));

    // Whatever the names and numbers are: what is shown of a value is read as this value.
    [Fact]
    public void Each_value_of_any_enum_is_read_back() => Prop.ForAll(
        (from names in Gen.Elements("A", "B", "C", "1", "-1", "a b", "A, B", " A", "", "É").ListOf(6)
         from numbers in Gen.Elements(0, 1, 2, 3, 4, -1, long.MinValue, long.MaxValue).ListOf(6)
         from isFlags in Gen.Elements(true, false)
         from value in Gen.Elements(0, 1, 2, 3, 5, 6, 7, -1, long.MinValue, long.MaxValue)
         select (Enum: new PayloadEnum("E", [.. names.Zip(numbers, static (name, number) => new PayloadEnumValue(name, number))])
         {
             IsFlags = isFlags,
         }, Value: value)).ToArbitrary(),
        static one =>
        {
            var described = new DynamicEnum(one.Enum);
            if (described.NameOf(one.Value) is { } text)
            {
                Assert.True(described.TryParse(text, out long again));
                Assert.Equal(one.Value, again);
                Assert.False(long.TryParse(text, out _));
            }
        }).QuickCheckThrowOnFailure();

    private static byte[] Write(string json)
    {
        using var document = JsonDocument.Parse(json, JsonToPayload.DocumentOptions);
        return new JsonToPayload(new DynamicSchema(Trip)).Convert(document.RootElement);
    }

    private static string Read(byte[] payload)
    {
        using var reader = new PayloadToJson(new DynamicSchema(Trip));
        return Encoding.UTF8.GetString(reader.Convert(payload).Span);
    }
}
