using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

// Members that are sound, and may lose what their author means to send.
public sealed class DoubtfulMemberTests
{
    [Theory]
    [InlineData("public int Y { get; set; }")]
    [InlineData("public int Y { get; init; }")]
    [InlineData("public int Y;")]
    [InlineData("[System.Obsolete] public string? Y { get; set; }")]
    public async Task QS0017_names_state_that_is_not_sent(string member) => Assert.Equal(
        [
            "QS0017: 'C.Y' is not sent, and its receivers get the default: mark it [DataMember(Order = n)], or [IgnoreDataMember] if that "
            + "is meant",
        ],
        await ReportsAsync($$"""[DataContract] public class C { [DataMember(Order = 1)] public int X { get; set; } {{member}} }"""));

    [Theory]
    [InlineData("public int Y { get; }")]
    [InlineData("public int Y { get; private set; }")]
    [InlineData("public int Y => X;")]
    [InlineData("public readonly int Y = 1;")]
    [InlineData("public static int Y { get; set; }")]
    [InlineData("internal int Y { get; set; }")]
    [InlineData("[IgnoreDataMember] public int Y { get; set; }")]
    [InlineData("public int this[int at] { get => at; set { } }")]
    public async Task Members_that_are_not_state_or_are_ignored_are_not_reported(string member) => Assert.Empty(
        await ReportsAsync($$"""[DataContract] public class C { [DataMember(Order = 1)] public int X { get; set; } {{member}} }"""));

    [Fact]
    public async Task QS0017_names_a_member_of_a_base_once_and_no_override_of_a_data_member()
    {
        const string Source = """
            using QuickSilver.Serialization;

            [Subtype(1, typeof(A)), Subtype(2, typeof(B))]
            public abstract class Base
            {
                [DataMember(Order = 1)] public abstract int X { get; set; }
                public int Lost { get; set; }
            }

            [DataContract] public sealed class A : Base { public override int X { get; set; } }
            [DataContract] public sealed class B : Base { public override int X { get; set; } }
            """;
        string report = Assert.Single(await ReportsAsync(Source));
        Assert.StartsWith("QS0017: 'Base.Lost' is not sent", report, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("DateTime", "DateTime")]
    [InlineData("DateTime?", "DateTime?")]
    [InlineData("List<DateTime>", "List<DateTime>")]
    [InlineData("Dictionary<string, DateTime>", "Dictionary<string, DateTime>")]
    public async Task QS0018_suggests_a_type_that_keeps_the_instant(string type, string shown) => Assert.Equal(
        [
            $"QS0018: 'C.X' has the type '{shown}', and the Kind of a DateTime is not sent: use DateTimeOffset, or send UTC and set the "
            + "Kind on receipt",
        ],
        await ReportsAsync($$"""[DataContract] public class C { [DataMember(Order = 1)] public {{type}} X { get; set; } = new(); }"""));

    [Theory]
    [InlineData("[DataMember(Order = 1)] public DateTimeOffset X { get; set; }")]
    [InlineData("[IgnoreDataMember] public DateTime X { get; set; }")]
    [InlineData("[DataMember(Order = 1)] public DateOnly X { get; set; }")]
    public async Task Other_times_are_not_reported(string member) =>
        Assert.Empty(await ReportsAsync($$"""[DataContract] public class C { {{member}} }"""));

    private static async Task<IReadOnlyList<string>> ReportsAsync(string source)
    {
        var compilation = Driver.Compile(source);
        Assert.NotEmpty(Driver.Generate(compilation));
        return await Driver.AnalyzeAsync(compilation);
    }
}
