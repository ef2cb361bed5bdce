using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests.Pages;

// docs/numbers.md names a test for each number that a peer can raise. The tests exist.
public sealed class NumbersPageTests
{
    private const string Page = "docs/numbers.md";
    private const int Columns = 5;
    private static readonly Regex Named = new(@"`(\w+(?:Tests|Campaign))\.(\w+)`");

    [Fact]
    public void Each_number_has_a_bound_and_a_test_that_exists()
    {
        var tests = Repository.Files(["tests"], ".cs").SelectMany(static file =>
        {
            string text = Repository.Read(file);
            return from type in Regex.Matches(text, @"\bclass (\w+)").Select(static one => one.Groups[1].Value)
                   from test in Regex.Matches(text, @"public (?:async Task|void|Task) (\w+)\(").Select(static one => one.Groups[1].Value)
                   select (Type: type, Test: test);
        }).ToHashSet();
        var rows = Repository.ReadLines(Page).Where(static line => line.StartsWith("| ", StringComparison.Ordinal))
            .Where(static line => !line.StartsWith("| number | who", StringComparison.Ordinal)).ToList();
        Assert.NotEmpty(rows);
        Violations.AssertNone(rows.SelectMany(row => Faults(row, tests)));
    }

    private static IEnumerable<string> Faults(string row, HashSet<(string Type, string Test)> tests)
    {
        string[] cells = row.Trim('|').Split('|', StringSplitOptions.TrimEntries);
        if (cells.Length != Columns || cells.Any(static cell => cell.Length == 0))
        {
            yield return $"{Page}: the row has {cells.Length} cells, or an empty one: {row}";
            yield break;
        }

        var named = Named.Matches(cells[^1]).Select(static one => (Type: one.Groups[1].Value, Test: one.Groups[2].Value)).ToList();
        if (named.Count == 0)
        {
            yield return $"{Page} names no test: {row}";
        }

        foreach (var one in named.Where(one => !tests.Contains(one)))
        {
            yield return $"{Page} names {one.Type}.{one.Test}, which does not exist";
        }
    }
}
