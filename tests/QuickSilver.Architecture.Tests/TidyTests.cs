using System.Reflection;
using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// Style that no analyzer holds. What must not be written anywhere is put together here from two halves.
public sealed class TidyTests
{
    private const int MaxLineLength = 140;
    private const int MaxConstructorParameters = 6;
    private static readonly string[] Everywhere = ["src", "tools", "samples", "benchmarks", "tests"];
    private static readonly string[] Texts = [".cs", ".csproj", ".props", ".targets", ".md", ".json", ".sh", ".txt"];

    [Fact]
    public void Lines_are_at_most_140_characters() => Violations.AssertNone(
        from file in Repository.Files(Everywhere, ".cs")
        from line in Repository.ReadLines(file).Select((text, i) => (Text: text, Number: i + 1))
        where line.Text.Length > MaxLineLength
        select $"{file}:{line.Number} has {line.Text.Length}");

    [Fact]
    public void Nothing_is_left_for_later() => Violations.AssertNone(Finds(
        Everywhere, [".cs"], $@"\b({"TO" + "DO"}|{"FIX" + "ME"}|{"NotImplemented" + "Exception"})\b"));

    [Fact]
    public void No_path_of_one_machine_is_named() => Violations.AssertNone(
        Finds([.. Everywhere, "docs", "eng", ".ci"], Texts, $@"(?<![\w.])/({"ro" + "ot"}|{"wo" + "rk"})/"));

    // Campaigns, and the program of their nodes, do what takes its time: they make faults last, and pace what they send.
    [Fact]
    public void Tests_wait_for_conditions_not_for_time() => Violations.AssertNone(
        Finds(["tests"], [".cs"], $@"\b{"Thread"}\.{"Sleep"}\b").Where(static found =>
            !found.Contains("/Campaigns/", StringComparison.Ordinal) && !found.Contains("/ChurnNode/", StringComparison.Ordinal)));

    [Fact]
    public void Types_are_named_for_what_they_are() => Violations.AssertNone(Finds(
        Everywhere, [".cs"], @"\b(class|struct|interface|enum|record)\s+\w*(Manager|Helpers?|Utils?|Utility|Utilities)\b"));

    // A name states its subject first.
    [Fact]
    public void Names_of_tests_do_not_begin_with_a_relative_clause() => Violations.AssertNone(Finds(
        ["tests"], [".cs"], @"public (async )?(void|Task|ValueTask) (What|Whatever|Who)_\w+\("));

    [Fact]
    public void Constructors_take_few_parameters() => Violations.AssertNone(
        from assembly in Assemblies.Shipped
        from type in Assemblies.WrittenTypes(assembly)
        where type.IsClass && !IsRecord(type)
        from constructor in type.GetConstructors(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)
        where constructor.GetParameters().Length > MaxConstructorParameters
        select $"{type.FullName} takes {constructor.GetParameters().Length}");

    [Fact]
    public void The_architecture_document_names_each_room()
    {
        var document = Repository.Read("docs/architecture.md");
        var missing =
            from project in ProjectFile.All("src")
            from name in RoomsOf(project).Append(project.Name)
            where !Regex.IsMatch(document, $@"(?<![\w.]){Regex.Escape(name)}(?![\w.]\w)")
            select $"{project.Name}: {name}";

        Violations.AssertNone(missing);
    }

    [Fact]
    public void The_architecture_document_names_no_room_that_is_not_there()
    {
        string project = "";
        var gone = new List<string>();
        foreach (string line in Repository.ReadLines("docs/architecture.md"))
        {
            project = Regex.Match(line, @"^## (QuickSilver[\w.]*)$") is { Success: true } heading ? heading.Groups[1].Value : project;
            if (Regex.Match(line, @"^- `(\w+)/`:") is { Success: true } room
                && !Repository.Files([$"src/{project}/{room.Groups[1].Value}"], ".cs").Any())
            {
                gone.Add($"{project}: {room.Groups[1].Value}");
            }
        }

        Violations.AssertNone(gone);
    }

    private static IEnumerable<string> Finds(string[] folders, string[] extensions, string pattern) =>
        from file in Repository.Files(folders, extensions)
        from line in Repository.ReadLines(file).Select((text, i) => (Text: text, Number: i + 1))
        where Regex.IsMatch(line.Text, pattern)
        select $"{file}:{line.Number}: {line.Text.Trim()}";

    private static IEnumerable<string> RoomsOf(ProjectFile project) =>
        Repository.Files([project.Folder], ".cs").Select(f => f[(project.Folder.Length + 1)..])
            .Where(f => f.Contains('/')).Select(f => f[..f.IndexOf('/')]).Distinct();

    private static bool IsRecord(Type type) => type.GetMethod("<Clone>$") is not null;
}
