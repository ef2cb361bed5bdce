using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests.Pages;

// A reader with a task finds its page from the README, and no link between the pages leads nowhere.
public sealed partial class PagesTests
{
    private const string Index = "README.md";

    // A task, its page, and the heading under which it is; "": the page as a whole.
    private static readonly (string Task, string Page, string Heading)[] Tasks =
    [
        ("handler, consumer or reader", "consumers.md", "Handler, consumer or reader"),
        ("several machines", "several-machines.md", "Traffic to allow"),
        ("multicast", "several-machines.md", "Multicast"),
        ("packet sizes", "several-machines.md", "Size of packets"),
        ("buffers", "several-machines.md", "Receive buffers"),
        ("containers", "several-machines.md", "Containers"),
        ("Kubernetes", "several-machines.md", "Kubernetes"),
        ("clouds without multicast", "several-machines.md", "Clouds"),
        ("an expelled node", "expelled-nodes.md", "How to continue"),
        ("slow readers", "slow-readers.md", "What to do"),
        ("contracts and versions", "versions.md", "What may change"),
        ("naming and cost of topics", "topics.md", "Naming topics, and what they cost"),
        ("testing", "testing.md", "Nodes in a test"),
        ("all options", "configuration.md", ""),
        ("coming from NATS", "coming-from.md", "NATS"),
        ("coming from Redis", "coming-from.md", "Redis pub/sub"),
        ("coming from MassTransit", "coming-from.md", "MassTransit"),
        ("coming from Orleans", "coming-from.md", "Orleans streams"),
        ("coming from JGroups", "coming-from.md", "JGroups"),
        ("request and reply", "patterns.md", "Request and reply"),
        ("last value", "patterns.md", "Last value of each key"),
        ("work sharing", "patterns.md", "Work sharing"),
        ("watching", "watching.md", "Aspire"),
        ("Aspire", "aspire.md", "The app host"),
        ("health", "health.md", ""),
    ];

    [Fact]
    public void Each_task_has_its_page_and_the_index_leads_to_it()
    {
        string index = Repository.Read(Index);
        Violations.AssertNone(
            from task in Tasks
            let page = Path.Combine(Repository.Root, "docs", task.Page)
            where !index.Contains($"](docs/{task.Page})", StringComparison.Ordinal)
                || !File.Exists(page)
                || (task.Heading != "" && !Headings(page).Contains(task.Heading))
            select $"{task.Task}: docs/{task.Page} with the heading '{task.Heading}', linked by {Index}");
    }

    [Fact]
    public void The_index_leads_to_each_page()
    {
        string index = Repository.Read(Index);
        Violations.AssertNone(
            Directory.EnumerateFiles(Path.Combine(Repository.Root, "docs"), "*.md").Select(static page => Path.GetFileName(page))
                .Where(page => !index.Contains($"](docs/{page})", StringComparison.Ordinal))
                .Select(static page => $"{Index} does not link docs/{page}"));
    }

    [Fact]
    public void Each_link_between_the_pages_leads_to_a_file_and_a_heading_that_are_there()
    {
        string[] folders = ["docs", "src", "tools", "samples", "templates"];
        var pages = folders.SelectMany(static folder =>
                Directory.EnumerateFiles(Path.Combine(Repository.Root, folder), "*.md", SearchOption.AllDirectories))
            .Append(Path.Combine(Repository.Root, Index)).Append(Path.Combine(Repository.Root, "CONTRIBUTING.md"))
            .Order(StringComparer.Ordinal);
        Violations.AssertNone(
            from page in pages
            from Match link in Link().Matches(Fenced().Replace(File.ReadAllText(page), ""))
            let target = link.Groups[1].Value
            where !target.Contains("://", StringComparison.Ordinal) && !Leads(page, target)
            select $"{Path.GetRelativePath(Repository.Root, page)}: {target}");
    }

    private static bool Leads(string page, string target)
    {
        string[] parts = target.Split('#', 2);
        string path = parts[0] == "" ? page : Path.GetFullPath(parts[0], Path.GetDirectoryName(page)!);
        return Path.Exists(path) && (parts.Length == 1 || Headings(path).Any(heading => Anchor(heading) == parts[1]));
    }

    private static List<string> Headings(string page) =>
        [.. Heading().Matches(Fenced().Replace(File.ReadAllText(page), "")).Select(static one => one.Groups[1].Value.Trim())];

    // As the sites that show these pages make it: small letters, no signs, hyphens for spaces.
    private static string Anchor(string heading) => NoLetter().Replace(heading.ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex(@"\]\(([^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex("^#+ (.+)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex("^```.*?^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fenced();

    [GeneratedRegex(@"[^\p{L}\p{N}_\- ]")]
    private static partial Regex NoLetter();
}
