using Microsoft.CodeAnalysis;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests.Analyzers;

// Every rule: what is reported, in which words, and that nothing is generated for it while the rest still is.
public sealed class ContractAnalyzerTests
{
    private const string UseCollections = "use List<T>, T[], HashSet<T>, IReadOnlyList<T>, IReadOnlyCollection<T>, IReadOnlySet<T>, "
        + "ImmutableArray<T>, Dictionary<TKey, TValue> or IReadOnlyDictionary<TKey, TValue>";

    [Theory]
    [InlineData("object X", "use a type that protobuf supports, or your own [DataContract] type")]
    [InlineData("Version X", "use a type that protobuf supports, or your own [DataContract] type")]
    [InlineData("Plain X", "mark 'Plain' [DataContract] and its members [DataMember(Order = n)]")]
    [InlineData("Queue<int> X", UseCollections)]
    [InlineData("int[,] X", UseCollections)]
    [InlineData("List<List<int>> X", "a collection cannot contain another collection; wrap the inner one in a [DataContract] type")]
    [InlineData("Dictionary<int, int[]> X", "a collection cannot contain another collection; wrap the inner one in a [DataContract] type")]
    [InlineData("List<string?> X", "a collection on the wire cannot contain null; make its elements non-nullable")]
    [InlineData("int?[] X", "a collection on the wire cannot contain null; make its elements non-nullable")]
    [InlineData("Dictionary<Guid, int> X", "a dictionary's key must be a string, an integer, a char or a bool")]
    [InlineData("Dictionary<double, int> X", "a dictionary's key must be a string, an integer, a char or a bool")]
    [InlineData("ImmutableArray<int>? X", "use the collection itself, not a Nullable<T> of it")]
    [InlineData("(int, int) X", "use a [DataContract] type without type parameters")]
    [InlineData("dynamic X", "use a type that protobuf supports, or your own [DataContract] type")]
    public async Task QS0001_names_a_type_that_cannot_be_serialized(string member, string advice)
    {
        string type = member[..^2];
        string source = $$"""
            class Plain { }
            [DataContract] sealed class C { [DataMember(Order = 1)] public {{member}} { get; set; } = default!; }
            """;
        Assert.Equal([$"QS0001: 'C.X' has the type '{type}', which cannot be serialized: {advice}"], await ReportsAsync(source));
    }

    [Fact]
    public async Task QS0002_asks_for_a_number() => Assert.Equal(
        ["QS0002: 'C.X' has no field number: write [DataMember(Order = n)], with a number of its own that never changes"],
        await ReportsAsync("[DataContract] sealed record C([property: DataMember] int X);"));

    [Fact]
    public async Task QS0003_names_both_members() => Assert.Equal(
        ["QS0003: 'C.Y' and 'C.X' have the same field number 4: give 'Y' a number that was never used in this type"],
        await ReportsAsync("[DataContract] struct C { [DataMember(Order = 4)] public int X; [DataMember(Order = 4)] public int Y; }"));

    [Theory]
    [InlineData(0)]
    [InlineData(-2)]
    [InlineData(19_000)]
    [InlineData(19_999)]
    [InlineData(536_870_912)]
    public async Task QS0004_names_the_range(int order) => Assert.Equal(
        [$"QS0004: 'C.X' has the field number {order}: use 1 to 536870911, except 19000 to 19999, which protobuf reserves"],
        await ReportsAsync($$"""[DataContract] sealed class C { [DataMember(Order = {{order}})] public int X; }"""));

    [Theory]
    [InlineData(1)]
    [InlineData(18_999)]
    [InlineData(20_000)]
    [InlineData(536_870_911)]
    public void Orders_at_the_edges_are_taken(int order) => Assert.Empty(
        Driver.Complaints(Driver.Compile($$"""[DataContract] sealed class C { [DataMember(Order = {{order}})] public int X; }""")));

    [Theory]
    [InlineData("class Outer { [DataContract] private sealed class C { [DataMember(Order = 1)] public int X { get; set; } } }")]
    [InlineData("class Outer { private class Middle { [DataContract] public sealed class C { } } }")]
    [InlineData("[DataContract] file sealed class C { }")]
    public async Task QS0005_asks_for_an_accessible_type(string source) => Assert.Equal(
        ["QS0005: 'C' is not accessible to generated code: make it and the types around it internal or public, and not file-local"],
        await ReportsAsync(source));

    [Theory]
    [InlineData("abstract class C { }", "it is abstract; send a concrete type, or declare its subtypes with [Subtype(n, typeof(S))]")]
    [InlineData("ref struct C { }", "it is a ref struct; make it a struct or a class")]
    [InlineData(
        "sealed class C { private C() { } }",
        "add an accessible parameterless constructor, or one whose parameters match its members by name and type")]
    [InlineData(
        "sealed record C(int Left, [property: DataMember(Order = 1)] int X);",
        "add an accessible parameterless constructor, or one whose parameters match its members by name and type")]
    [InlineData(
        "sealed class C { public required int Y { get; set; } }",
        "'Y' is required but not a [DataMember]; mark it [DataMember] or remove 'required'")]
    public async Task QS0006_says_why_it_cannot_be_constructed(string declaration, string reason) =>
        Assert.Equal([$"QS0006: 'C' cannot be constructed: {reason}"], await ReportsAsync("[DataContract] " + declaration));

    [Theory]
    [InlineData("int")]
    [InlineData("T?")]
    [InlineData("List<T>")]
    public async Task QS0007_refuses_generic_contracts_and_says_nothing_else_of_them(string type) => Assert.Equal(
        ["QS0007: 'C' is generic and has no single schema: write a [DataContract] type for each constructed type that you send"],
        await ReportsAsync($"[DataContract] sealed class C<T> {{ [DataMember(Order = 1)] public {type} X {{ get; set; }} = default!; }}"));

    [Fact]
    public async Task QS0008_names_the_base() => Assert.Equal(
        ["QS0008: 'C' inherits from 'B', whose state would be lost: use a [DataMember] of type 'B' instead, or move its members here"],
        await ReportsAsync("[DataContract] class B { } [DataContract] sealed class C : B { }"));

    [Theory]
    [InlineData("public static int X { get; set; }", "is static: make it an instance member or remove [DataMember]")]
    [InlineData("private int X { get; set; }", "cannot be read by generated code: make it internal or public, with a getter")]
    [InlineData("public int X { private get; set; }", "cannot be read by generated code: make it internal or public, with a getter")]
    [InlineData(
        "public int X { get; }",
        "cannot be set: give it a set or init accessor, or a constructor parameter of the same name and type")]
    [InlineData(
        "public int X { get; private set; }",
        "cannot be set: give it a set or init accessor, or a constructor parameter of the same name and type")]
    public async Task QS0009_says_what_the_member_lacks(string member, string reason) =>
        Assert.Equal([$"QS0009: 'C.X' {reason}"], await ReportsAsync($"[DataContract] class C {{ [DataMember(Order = 1)] {member} }}"));

    [Theory]
    [InlineData("sealed class C { public int X { get; set; } }")]
    [InlineData("sealed class C { public int X { get; init; } public int Y { get; set; } }")]
    [InlineData("struct C { public int X; }")]
    public async Task QS0010_warns_of_a_type_whose_state_is_all_lost_and_leaves_it_its_codec(string declaration)
    {
        var compilation = Driver.Compile("[DataContract] " + declaration);
        Assert.Equal(
            ["QS0010: 'C' has no [DataMember], so its values are sent empty and 'X' is lost: mark the members to send"
                + " [DataMember(Order = n)]"],
            await Driver.AnalyzeAsync(compilation));
        Assert.NotEmpty(Driver.Generate(compilation));
        Assert.Equal(DiagnosticSeverity.Warning, Rules.NoMembers.DefaultSeverity);
    }

    [Theory]
    [InlineData("sealed class C { }")]
    [InlineData("sealed class C { public static int X { get; set; } public const int Y = 1; public int Z => 3; }")]
    [InlineData("sealed class C { [IgnoreDataMember] public int X { get; set; } }")]
    [InlineData("sealed class C { public int X { get; private set; } }")]
    public async Task A_type_without_state_that_could_be_forgotten_is_not_warned_of(string declaration) =>
        Assert.Empty(await Driver.AnalyzeAsync(Driver.Compile("[DataContract] " + declaration)));

    [Fact]
    public async Task A_contract_of_another_assembly_with_a_problem_is_reported_where_it_is_used()
    {
        var library = Driver.Compile("[DataContract] public sealed class Lib { [DataMember] public int Y { get; set; } }", "Library");
        var reports = await Driver.AnalyzeAsync(Driver.Compile(
            "[DataContract] sealed class C { [DataMember(Order = 1)] public Lib? X { get; set; } }",
            "Consumer",
            library.ToMetadataReference()));
        Assert.StartsWith("QS0001: 'C.X' has the type 'Lib?'", Assert.Single(reports));
        Assert.Contains("its assembly 'Library' must fix this: 'Lib.Y' has no field number", reports[0]);
    }

    [Fact]
    public async Task Good_contracts_are_not_reported() => Assert.Empty(await Driver.AnalyzeAsync(Driver.Compile(
        """
        [DataContract]
        public sealed record Node([property: DataMember(Order = 1)] string Name, [property: DataMember(Order = 2)] List<Node> Next);

        [DataContract] public enum Level { Low, High }
        """)));

    [Fact]
    public void Every_rule_has_its_page()
    {
        var pages = Directory.GetFiles(Path.Combine(RepositoryRoot.Path, "docs", "rules"), "QS*.md");
        Assert.Equal(
            Driver.Analyzers.SelectMany(analyzer => analyzer.SupportedDiagnostics).Select(rule => rule.Id + ".md").Order(),
            pages.Select(page => Path.GetFileName(page)).Order());
        string[] parts = ["**Flagged**", "**Suggested**", "**Why**"];
        Assert.All(pages, page => Assert.All(parts, part => Assert.Contains(part, File.ReadAllText(page))));
    }

    // The type with the problem gets no codec, one that holds it neither, and a sound one does; and the problem is the only error.
    private static async Task<IReadOnlyList<string>> ReportsAsync(string source)
    {
        const string Sound = " [DataContract] public sealed class Sound { [DataMember(Order = 1)] public int Z { get; set; } }";
        var compilation = Driver.Compile(source + Sound);
        var files = Driver.Generate(compilation).Select(file => file.Name).ToList();
        Assert.DoesNotContain("CCodec.g.cs", files);
        Assert.Contains("SoundCodec.g.cs", files);
        return await Driver.AnalyzeAsync(compilation);
    }
}
