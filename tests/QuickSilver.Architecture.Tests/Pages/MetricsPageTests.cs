using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;
using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Architecture.Tests.Pages;

// docs/watching.md has a row for each figure of the catalogue, and for nothing else.
public sealed class MetricsPageTests
{
    private const string Page = "docs/watching.md";
    private static readonly Regex Row = new(
        @"^\| `((?:quicksilver|messaging)\.[a-z_.]+)` \| ([^|]+) \| ([^|]+) \|", RegexOptions.Multiline);

    [Fact]
    public void The_page_has_one_row_with_the_unit_and_the_meaning_of_each_figure()
    {
        var rows = Row.Matches(Repository.Read(Page)).ToLookup(
            static row => row.Groups[1].Value,
            static row => $"{row.Groups[2].Value} | {row.Groups[3].Value.Replace("`", "", StringComparison.Ordinal)}");
        var figures = NodeFigures.All.ToDictionary(static one => one.Name, static one => $"{UnitOf(one)} | {MeaningOf(one)}");
        Violations.AssertNone(
            rows.Select(static row => row.Key).Except(figures.Keys).Select(static name => $"{Page}: {name} does not exist"));
        Violations.AssertNone(
            from figure in figures
            where !rows[figure.Key].SequenceEqual([figure.Value])
            select $"{figure.Key} is \"{figure.Value}\" in the catalogue; {Page} has [{string.Join(", ", rows[figure.Key])}]");
    }

    private static string UnitOf(NodeFigure figure)
    {
        string kind = figure.Kind switch { FigureKind.Level => ", level", FigureKind.Recorded => ", histogram", _ => "" };
        string tags = string.Join(" and ", figure.Tags.Select(static tag => $"`{tag}`"));
        return figure.Unit + kind + (tags.Length > 0 ? $", by {tags}" : "");
    }

    private static string MeaningOf(NodeFigure figure) => char.ToLowerInvariant(figure.Sentence[0]) + figure.Sentence[1..].TrimEnd('.');
}
