using System.Diagnostics;
using System.Text;
using System.Text.RegularExpressions;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// The page of the tool says what the tool itself says. QS_ACCEPT_MANUAL=1 writes the page again.
public sealed partial class ManualScenarios
{
    private const string End = "ManualScenarios with QS_ACCEPT_MANUAL=1. -->\n";

    // Those that every command has, or that are no use of a command.
    private static readonly string[] Left = ["--help", "--version"];

    private static string Root => Path.GetFullPath(Path.Combine(Path.GetDirectoryName(Programs.Qsm)!, "..", "..", "..", ".."));

    private static string PagePath => Path.Combine(Root, "docs", "qsm.md");

    [Fact]
    public void The_page_lists_each_command_with_its_options_as_its_help_does()
    {
        string page = File.ReadAllText(PagePath);
        int end = page.IndexOf(End, StringComparison.Ordinal) + End.Length;
        var text = new StringBuilder();
        Describe([], text);
        string expected = page[..end] + text;
        if (Environment.GetEnvironmentVariable("QS_ACCEPT_MANUAL") == "1")
        {
            File.WriteAllText(PagePath, expected);
        }

        Assert.Equal(expected, File.ReadAllText(PagePath));
    }

    [Fact]
    public void The_page_has_each_exit_code_once()
    {
        string source = File.ReadAllText(Path.Combine(Root, "tools", "qsm", "ExitCode.cs"));
        var codes = Constant().Matches(source).Select(static match => match.Groups[1].Value);
        var rows = Row().Matches(File.ReadAllText(PagePath)).Select(static match => match.Groups[1].Value);
        Assert.Equal(codes, rows);
    }

    private static void Describe(string[] command, StringBuilder text)
    {
        var sections = Sections(Help(command));
        if (command.Length > 0)
        {
            text.Append($"\n## qsm {string.Join(' ', command)}\n\n{Escape(sections["Description"].Single())}\n");
            if (!sections.ContainsKey("Commands"))
            {
                var rows = sections.GetValueOrDefault("Arguments", []).Concat(sections["Options"])
                    .Select(Split)
                    .Where(static row => !Left.Any(name => row.Name.Contains(name, StringComparison.Ordinal)));
                text.Append("\n| argument or option | meaning |\n|---|---|\n");
                foreach (var (name, meaning) in rows)
                {
                    text.Append($"| `{name}` | {Escape(meaning)} |\n");
                }
            }
        }

        foreach (string line in sections.GetValueOrDefault("Commands", []))
        {
            Describe([.. command, Split(line).Name.Split(' ')[0]], text);
        }
    }

    private static (string Name, string Meaning) Split(string line)
    {
        string[] parts = line.Split("  ", 2, StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return (string.Concat(parts[0].Where(static c => c is not ('<' or '>'))), parts.ElementAtOrDefault(1) ?? "");
    }

    private static string Escape(string text) =>
        text.Replace("|", "\\|", StringComparison.Ordinal).Replace("<", "&lt;", StringComparison.Ordinal);

    private static Dictionary<string, List<string>> Sections(string help)
    {
        var sections = new Dictionary<string, List<string>>();
        List<string> current = [];
        foreach (string line in help.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            if (!line.StartsWith(' ') && line.EndsWith(':'))
            {
                sections[line[..^1]] = current = [];
            }
            else if (line.Trim().Length > 0)
            {
                current.Add(line.Trim());
            }
        }

        return sections;
    }

    private static string Help(string[] command)
    {
        var (code, text, errors) = LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, [.. command, "--help"]));
        Assert.True(code == 0, errors);
        return text;
    }

    [GeneratedRegex(@"public const int \w+ = (\d+);")]
    private static partial Regex Constant();

    [GeneratedRegex(@"^\| (\d+) \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
