using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;
using static QuickSilver.Architecture.Tests.Reading.NamespaceUses;

namespace QuickSilver.Architecture.Tests;

public sealed partial class LayerRuleTests
{
    private static readonly string[] Built = ["src", "tools", "samples", "benchmarks"];

    // Where users look for types and extension methods is not always where the file lies.
    private static readonly string[] Faces =
        ["QuickSilver", "QuickSilver.Hosting", "QuickSilver.ProtobufNet", "QuickSilver.Serialization", "QuickSilver.Simulation"];

    private static readonly Type[] Starters = [typeof(QuickSilverNode), typeof(InMemoryNetwork)];

    [Fact]
    public void Projects_refer_to_lower_floors_only()
    {
        var wrong =
            from project in ProjectFile.All(Built)
            where project.Name != LayerRules.Generator
            from reference in project.References
            where LayerRules.FloorOf(reference) >= LayerRules.FloorOf(project.Name)
            select $"{project.Name} refers to {reference}";

        Violations.AssertNone(wrong);
    }

    [Fact]
    public void The_generator_refers_to_no_project_and_is_linked_by_none()
    {
        Violations.AssertNone(ProjectFile.All("src").Single(p => p.Name == LayerRules.Generator).References);
        Assert.DoesNotContain(ProjectFile.All(Built), p => p.References.Contains(LayerRules.Generator));
    }

    [Fact]
    public void The_folder_is_the_namespace()
    {
        var wrong =
            from project in ProjectFile.All("src", "tools", "samples", "benchmarks", "tests")
            from file in Repository.Files([project.Folder], ".cs")
            let declared = NamespaceOf(Repository.Read(file))
            where declared is not null && !Expected(project, file).Contains(declared) && !IsKnownElsewhere(project, declared)
            // Whole programs, with which users' are compared: no part of a project.
            where !file.StartsWith("tests/QuickSilver.Packages.Tests/Peers/", StringComparison.Ordinal)
            select $"{file} declares {declared}";

        Violations.AssertNone(wrong);
    }

    [Fact]
    public void The_rooms_of_Core_use_only_what_stands_before_them()
    {
        Violations.AssertNone(RoomsOf("QuickSilver.Core").Except(LayerRules.CoreRooms.Keys));
        Violations.AssertNone(UsesOf("QuickSilver.Core", LayerRules.CoreRooms));
    }

    [Fact]
    public void The_rooms_of_Serialization_use_only_what_stands_before_them()
    {
        Violations.AssertNone(RoomsOf("QuickSilver.Serialization").Except(LayerRules.SerializationRooms.Keys).Except(["Codecs"]));
        Violations.AssertNone(UsesOf("QuickSilver.Serialization", LayerRules.SerializationRooms));
    }

    [Fact]
    public void The_rooms_of_the_public_project_use_only_what_stands_before_them()
    {
        Violations.AssertNone(RoomsOf("QuickSilver").Except(LayerRules.PublicRooms.Keys));
        Violations.AssertNone(UsesOf("QuickSilver", LayerRules.PublicRooms));
    }

    [Fact]
    public void The_rooms_of_Groups_use_only_what_stands_before_them()
    {
        Violations.AssertNone(RoomsOf("QuickSilver.Groups").Except(LayerRules.GroupRooms.Keys));
        Violations.AssertNone(UsesOf("QuickSilver.Groups", LayerRules.GroupRooms));
    }

    [Fact]
    public void Of_the_public_types_only_those_that_start_nodes_know_the_rooms()
    {
        var wrong =
            from use in NamespaceUses.Within(Assemblies.Named("QuickSilver"))
            where RoomOf(use.User).Length == 0 && RoomOf(use.Used).Length > 0 && !Starters.Contains(Outermost(use.User))
            select $"{use.User.FullName} uses {use.Used.FullName}";

        Violations.AssertNone(wrong);
    }

    [Fact]
    public void No_room_of_Multicast_knows_the_node_that_wires_them()
    {
        var multicast = Assemblies.Named("QuickSilver.Multicast");
        var node = multicast.GetType("QuickSilver.Multicast.MulticastNode", throwOnError: true);

        Violations.AssertNone(NamespaceUses.Within(multicast).Where(u => u.Used == node).Select(u => u.User.FullName!));
    }

    [Fact]
    public void The_reader_of_compiled_code_sees_what_code_uses()
    {
        // The environment names pools in a signature only; this test's own body names Repository in code only.
        var core = NamespaceUses.Within(Assemblies.Named("QuickSilver.Core")).Select(u => (RoomOf(u.User), RoomOf(u.Used)));
        var own = NamespaceUses.Within(typeof(LayerRuleTests).Assembly);

        Assert.Contains(("Environment", "Buffers"), core);
        Assert.Contains(own, u => u.User == typeof(LayerRuleTests) && u.Used == typeof(NamespaceUses));
    }

    private static IEnumerable<string> UsesOf(string project, IReadOnlyDictionary<string, string[]> rooms) =>
        from use in NamespaceUses.Within(Assemblies.Named(project))
        let user = RoomOf(use.User)
        let used = RoomOf(use.Used)
        where user != used && rooms.ContainsKey(user) && !rooms[user].Contains(used)
        select $"{use.User.FullName} uses {use.Used.FullName}";

    private static string? NamespaceOf(string source) =>
        NamespaceLine().Match(source) is { Success: true } match ? match.Groups[1].Value : null;

    private static string[] Expected(ProjectFile project, string file)
    {
        var folders = file[(project.Folder.Length + 1)..].Split('/')[..^1];
        var full = string.Join('.', [project.RootNamespace, .. folders]);
        return Faces.Contains(project.Name) ? [full, project.RootNamespace] : [full];
    }

    // Extension methods live beside what they extend; a generator brings what its old framework lacks; the base of all exceptions is
    // declared where the lowest of them is.
    private static bool IsKnownElsewhere(ProjectFile project, string declared) =>
        (project.Name == "QuickSilver.Hosting" && declared.StartsWith("Microsoft.Extensions.", StringComparison.Ordinal))
        || (project.Name == "QuickSilver.Aspire" && declared == "Microsoft.Extensions.Hosting")
        || (project.Name == "QuickSilver.Aspire.Hosting" && declared == "Aspire.Hosting")
        || (project.Name == "QuickSilver.Serialization" && declared == "QuickSilver")
        || (project.Name == LayerRules.Generator && declared == "System.Runtime.CompilerServices");

    private static IEnumerable<string> RoomsOf(string project) =>
        Repository.Files(["src/" + project], ".cs").Select(f => f.Split('/')).Where(f => f.Length > 3).Select(f => f[2]).Distinct();

    private static Type Outermost(Type type)
    {
        while (type.DeclaringType is { } outer)
        {
            type = outer;
        }

        return type;
    }

    [GeneratedRegex(@"^namespace\s+([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex NamespaceLine();
}
