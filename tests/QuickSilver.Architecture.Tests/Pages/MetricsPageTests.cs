using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;
using QuickSilver.Diagnostics;

namespace QuickSilver.Architecture.Tests.Pages;

// docs/watching.md has a row for each instrument of the meter, and for nothing else.
public sealed class MetricsPageTests
{
    private const string Page = "docs/watching.md";
    private static readonly Regex Row = new(@"^\| `((?:quicksilver|messaging)\.[a-z_.]+)` \| ([^|]+) \|", RegexOptions.Multiline);

    [Fact]
    public void The_page_has_one_row_with_the_unit_of_each_instrument()
    {
        var rows = Row.Matches(Repository.Read(Page)).ToLookup(m => m.Groups[1].Value, m => m.Groups[2].Value.Split(',')[0]);
        var instruments = MeterInstruments.Read(NodeMeter.Name).ToDictionary(one => one.Name, one => one.Unit!);
        Violations.AssertNone(rows.Select(row => row.Key).Except(instruments.Keys).Select(name => $"{Page}: {name} does not exist"));
        Violations.AssertNone(
            from instrument in instruments
            where !rows[instrument.Key].SequenceEqual([instrument.Value])
            select $"{instrument.Key} has the unit {instrument.Value}; {Page} has [{string.Join(", ", rows[instrument.Key])}]");
    }
}
