using System.Collections;
using System.Globalization;
using QuickSilver.ProtobufNet.Tests.Differential.Shapes;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.ProtobufNet.Tests.Differential;

// Each row of the page's table is a value that is sent from each codec to each.
public sealed class MovingPageTests
{
    [Fact]
    public void Each_row_of_the_page_is_what_the_codecs_do()
    {
        string[] expected =
        [
            Row<Moving, string?>("`string`, `\"\"`", static (value, given) => value.Plain = given!, static value => value.Plain, ""),
            Row<Moving, string?>("`string`, `null`", static (value, given) => value.Plain = given!, static value => value.Plain, null),
            Row<Moving, string?>(
                "`string` that is initially `\"\"`, `null`",
                static (value, given) => value.Initialized = given!, static value => value.Initialized, null),
            Row<Moving, string?>("`string?`, `\"\"`", static (value, given) => value.Maybe = given, static value => value.Maybe, ""),
            Row<Moving, byte[]?>("`byte[]`, empty", static (value, given) => value.Bytes = given!, static value => value.Bytes, []),
            Row<Moving, byte[]?>("`byte[]`, `null`", static (value, given) => value.Bytes = given!, static value => value.Bytes, null),
            Row<Moving, byte[]?>(
                "`byte[]?`, empty", static (value, given) => value.MaybeBytes = given, static value => value.MaybeBytes, []),
            Row<Moving, List<int>?>(
                "`List<int>` that is initially empty, `null`",
                static (value, given) => value.Numbers = given!, static value => value.Numbers, null),
            Row<Moving, List<int>?>(
                "`List<int>?`, empty", static (value, given) => value.MaybeNumbers = given, static value => value.MaybeNumbers, []),
            Row<Moving, Dictionary<string, int>?>(
                "`Dictionary<string, int>?`, empty", static (value, given) => value.MaybeMap = given, static value => value.MaybeMap, []),
            Row<Moving, int?>("`int?`, `0`", static (value, given) => value.Count = given, static value => value.Count, 0),
            Row<Moving, int>(
                "`int` that is initially `5` and `IsRequired`, `0`",
                static (value, given) => value.Required = given, static value => value.Required, 0),
            Row<Moving, decimal>("`decimal`, `0.00m`", static (value, given) => value.Price = given, static value => value.Price, 0.00m),
            Row<Moving, decimal>("`decimal`, `1.50m`", static (value, given) => value.Price = given, static value => value.Price, 1.50m),
            Row<Moving, decimal?>(
                "`decimal?`, `0.00m`", static (value, given) => value.MaybePrice = given, static value => value.MaybePrice, 0.00m),
            Row<Moving, List<decimal>>(
                "`List<decimal>` with `0.00m`", static (value, given) => value.Prices = given, static value => value.Prices, [0.00m]),
            Row<Moving, double>("`double`, `-0.0`", static (value, given) => value.Real = given, static value => value.Real, -0.0),
            Row<Moving, double?>(
                "`double?`, `-0.0`", static (value, given) => value.MaybeReal = given, static value => value.MaybeReal, -0.0),
            Row<Moving, List<double>>(
                "`List<double>` with `-0.0`", static (value, given) => value.Reals = given, static value => value.Reals, [-0.0]),
            Row<Moving, Leaf?>(
                "a type with members, without any value",
                static (value, given) => value.Leaf = given, static value => value.Leaf, new()),
            Row<Moving, Leaf?>(
                "a type with members that is initially `new()`, `null`",
                static (value, given) => value.InitialLeaf = given!, static value => value.InitialLeaf, null),
            Row<Moving, Uri?>(
                "`Uri?`, empty", static (value, given) => value.Page = given, static value => value.Page, new Uri("", UriKind.Relative)),
            Row<MovingTimes, DateTime>(
                "`DateTime` of kind `Utc`", static (value, given) => value.At = given, static value => value.At, DateTime.UnixEpoch),
            Row<MovingTimes, DateTime>(
                "`DateTime` of kind `Local`", static (value, given) => value.At = given, static value => value.At,
                DateTime.SpecifyKind(DateTime.UnixEpoch, DateTimeKind.Local)),
            Row<MovingTimes, DateTime?>(
                "`DateTime?` of kind `Utc`",
                static (value, given) => value.MaybeAt = given, static value => value.MaybeAt, DateTime.UnixEpoch),
        ];
        string table = string.Join('\n', expected);
        Assert.True(table == string.Join('\n', RowsOfThePage()), $"The table of docs/codecs.md must be:\n{table}");
    }

    private static string Row<T, TMember>(string what, Action<T, TMember> set, Func<T, TMember> get, TMember given)
        where T : new()
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var generated));
        var adapter = new ProtobufNetCodec<T>();
        var value = new T();
        set(value, given);
        string[] cells =
        [
            what, Sent(generated!, generated!), Sent(generated!, adapter), Sent(adapter, generated!), Sent(adapter, adapter),
        ];
        return $"| {string.Join(" | ", cells)} |";

        string Sent(IPayloadCodec<T> from, IPayloadCodec<T> to)
        {
            byte[] bytes = new byte[from.GetSize(in value)];
            from.Write(in value, bytes);
            return Text(get(to.Read(bytes)));
        }
    }

    private static string Text(object? value) => value switch
    {
        null => "`null`",
        string text => $"`\"{text}\"`",
        DateTime time => $"`{time.Kind}`",
        Leaf => "the same",
        Uri page => page.OriginalString.Length == 0 ? "empty" : page.OriginalString,
        ICollection { Count: 0 } => "empty",
        ICollection items => string.Join(", ", items.Cast<object>().Select(Text)),
        double real => $"`{(double.IsNegative(real) ? "-0.0" : "0.0")}`",
        decimal amount => $"`{amount.ToString(CultureInfo.InvariantCulture)}m`",
        _ => $"`{value}`",
    };

    private static IEnumerable<string> RowsOfThePage()
    {
        return File.ReadLines(Path.Combine(RepositoryRoot.Path, "docs", "codecs.md"))
            .SkipWhile(static line => !line.StartsWith("| member and value", StringComparison.Ordinal)).Skip(2)
            .TakeWhile(static line => line.StartsWith('|'));
    }
}
