using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests.Pages;

// docs/invariants.md defines each code (I1, F1, T9) that comments, tests and pages use, and names the test classes that cover it.
public sealed class InvariantsPageTests
{
    private const string Page = "docs/invariants.md";
    private const int MostThreats = 14;
    private static readonly Regex Definition = new(@"^- \*\*([IFT]\d{1,2})\*\* \S", RegexOptions.Multiline);
    // Not a format specifier: {value:F1}, ToString("F2").
    private static readonly Regex Code = new(@"(?<![\w:.{]|ToString\(\x22)[IFT]\d{1,2}(?![\w}>])");
    private static readonly Regex ClassName = new(@"`(\w+(?:Tests|Campaign|Scenarios|Checker))`");

    [Fact]
    public void The_invariants_page_defines_each_code_in_use()
    {
        var defined = Definition.Matches(Repository.Read(Page)).Select(m => m.Groups[1].Value).ToHashSet();
        Violations.AssertNone(
            from file in Repository.Files(["src", "tests", "docs"], ".cs", ".md")
            from line in Repository.ReadLines(file).Select((text, i) => (Text: text, Number: i + 1))
            from code in Code.Matches(line.Text).Select(m => m.Value)
            where !defined.Contains(code)
            select $"{file}:{line.Number}: {code}");
    }

    [Fact]
    public void The_invariants_page_defines_each_code_once() => Violations.AssertNone(
        from code in Definition.Matches(Repository.Read(Page)).Select(m => m.Groups[1].Value)
        group code by code into same
        where same.Count() > 1
        select $"{same.Key} is defined {same.Count()} times");

    [Fact]
    public void The_invariants_page_names_what_exercises_each_threat()
    {
        string[] threats = Repository.Read(Page).Split("\n## Threats\n")[1].Split("\n- ")[1..];
        Assert.Equal(
            Enumerable.Range(1, MostThreats).Select(static number => $"T{number}"),
            threats.Select(static threat => Definition.Match($"- {threat}").Groups[1].Value));
        Assert.All(threats, static threat => Assert.Matches(ClassName, threat.Split(" Tests:")[1]));
    }

    [Fact]
    public void The_invariants_page_names_classes_that_exist()
    {
        var classes = Repository.Files(["src", "tests"], ".cs")
            .SelectMany(file => Regex.Matches(Repository.Read(file), @"\bclass (\w+)")).Select(m => m.Groups[1].Value).ToHashSet();
        Violations.AssertNone(
            from name in ClassName.Matches(Repository.Read(Page)).Select(m => m.Groups[1].Value).Distinct()
            where !classes.Contains(name)
            select $"{Page} names {name}, which does not exist");
    }
}
