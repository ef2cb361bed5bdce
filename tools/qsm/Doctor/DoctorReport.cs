using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Doctor.Checks;
using Spectre.Console;

namespace QuickSilver.Tool.Doctor;

// An examination as an object. Its field names are what scripts read: they are never renamed.
internal sealed record DoctorReport(string Cluster, string Status, IReadOnlyList<FindingJson> Checks)
{
    public static DoctorReport Of(string cluster, IReadOnlyList<Finding> findings) =>
        new(cluster, Name(Worst(findings)), [.. findings.Select(Printable).Select(FindingJson.Of)]);

    public static FindingStatus Worst(IReadOnlyList<Finding> findings) =>
        (FindingStatus)Math.Max((int)FindingStatus.Ok, findings.Max(static finding => (int)finding.Status));

    /// <summary>
    /// A finding in which nothing controls a terminal. Of a command with such a character, none is shown: without it, it would be another
    /// one, and it is meant to be pasted.
    /// </summary>
    public static Finding Printable(Finding finding)
    {
        Remedy[] remedies = [.. finding.Remedies.Where(static one => SafeText.IsSafe(one.Command))];
        string refused = remedies.Length < finding.Remedies.Count
            ? " A command is not shown, as a name in it has control characters."
            : "";
        return finding with
        {
            Text = $"{SafeText.Of(finding.Text)}{refused}",
            Remedies = [.. remedies.Select(static one => one with { Where = one.Where is { } where ? SafeText.Of(where) : null })],
        };
    }

    public string ToJson() => JsonSerializer.Serialize(this, DoctorJson.Default.DoctorReport);

    public static string Name(FindingStatus status) => status switch
    {
        FindingStatus.Ok => "ok",
        FindingStatus.Warning => "warning",
        FindingStatus.Problem => "problem",
        _ => "not checked",
    };
}

internal sealed record FindingJson(string Check, string Status, string Text, IReadOnlyList<RemedyJson> Remedies)
{
    public static FindingJson Of(Finding finding) => new(
        finding.Check,
        DoctorReport.Name(finding.Status),
        finding.Text,
        [.. finding.Remedies.Select(static remedy => new RemedyJson(remedy.Command, remedy.Where))]);
}

// Where: null: on this host.
internal sealed record RemedyJson(string Command, string? Where);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(DoctorReport))]
internal sealed partial class DoctorJson : JsonSerializerContext;

// An examination as text. Each finding is a line, so that scripts can match it; the commands that fix it follow, one a line.
internal static class DoctorText
{
    private const int StatusWidth = 13;
    private const int CheckWidth = 16;

    public static void Write(IReadOnlyList<Finding> findings)
    {
        foreach (var finding in findings.Select(DoctorReport.Printable))
        {
            string status = DoctorReport.Name(finding.Status).PadRight(StatusWidth);
            string rest = $"{finding.Check.PadRight(CheckWidth)}{finding.Text}";
            if (Console.IsOutputRedirected)
            {
                Console.Out.WriteLine(status + rest);
            }
            else
            {
                AnsiConsole.MarkupLine($"[{Color(finding.Status)}]{status}[/]{Markup.Escape(rest)}");
            }

            foreach (var remedy in finding.Remedies)
            {
                Console.Out.WriteLine($"{"",StatusWidth}{(remedy.Where is { } where ? $"on {where}: " : "")}{remedy.Command}");
            }
        }
    }

    private static string Color(FindingStatus status) => status switch
    {
        FindingStatus.Ok => "green",
        FindingStatus.Warning => "yellow",
        FindingStatus.Problem => "red",
        _ => "grey",
    };
}
