using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests;

public sealed class CodecGeneratorTests
{
    private const string Everything = """
        namespace Demo.@event;

        [DataContract]
        public sealed record Departure(
            [property: DataMember(Order = 1)] string Flight,
            [property: DataMember(Order = 2)] string? Gate,
            [property: DataMember(Order = 3)] Leg First,
            [property: DataMember(Order = 4)] Leg? Second,
            [property: DataMember(Order = 5)] Where Where,
            [property: DataMember(Order = 6)] Where? Elsewhere,
            [property: DataMember(Order = 7)] List<Leg> Legs,
            [property: DataMember(Order = 8)] IReadOnlyList<string>? Names,
            [property: DataMember(Order = 9)] ImmutableArray<Where> Places,
            [property: DataMember(Order = 10)] Dictionary<string, Leg>? ByName,
            [property: DataMember(Order = 11)] Dictionary<char, Where> ByLetter,
            [property: DataMember(Order = 12)] Leg[]? More,
            [property: DataMember(Order = 13, IsRequired = true)] string Code,
            [property: DataMember(Order = 14, IsRequired = true)] Level Level,
            [property: DataMember(Order = 15)] IReadOnlyList<Level> Levels,
            [property: DataMember(Order = 16)] List<byte> Bytes,
            [property: DataMember(Order = 17)] ReadOnlyMemory<byte>? Memory,
            [property: DataMember(Order = 18)] List<ReadOnlyMemory<byte>> Memories,
            [property: DataMember(Order = 19)] decimal[] Prices,
            [property: DataMember(Order = 20)] DateTimeOffset At);

        [DataContract] public sealed class Leg { [DataMember(Order = 1)] public required string @class { get; init; } }
        [DataContract] public struct Where { [DataMember(Order = 1)] public double X; [DataMember(Order = 2)] public float Y; }
        public enum Level : byte { Low, High }
        public class Outer { [DataContract] internal sealed class Inner { [DataMember(Order = 1)] public Inner? Next { get; set; } } }
        [DataContract] public sealed class Old { [Obsolete, DataMember(Order = 1)] public int X { get; set; } }
        #nullable disable
        [DataContract] public sealed class Oblivious
        {
            [DataMember(Order = 1)] public string Text { get; set; }
            [DataMember(Order = 2)] public List<string> Texts { get; set; }
            [DataMember(Order = 3)] public Oblivious Next { get; set; }
            [DataMember(Order = 4)] public Dictionary<string, Oblivious> Map { get; set; }
        }
        """;

    [Fact]
    public void Generated_code_compiles_without_a_warning() => Assert.Empty(Driver.Complaints(Driver.Compile(Everything)));

    [Fact]
    public void The_same_source_generates_the_same_text()
    {
        var first = Driver.Generate(Driver.Compile(Everything));
        Assert.Equal(first, Driver.Generate(Driver.Compile(Everything)));
        Assert.All(first, file => Assert.DoesNotContain("\r", file.Text));
        Assert.Equal(7, first.Count);
    }

    [Fact]
    public void An_edit_elsewhere_runs_nothing_again()
    {
        var compilation = Driver.Compile(Everything);
        var driver = Driver.Run(compilation, out _);
        var edited = compilation.AddSyntaxTrees(CSharpSyntaxTree.ParseText("public class Elsewhere { }"));
        var results = driver.RunGenerators(edited).GetRunResult().Results.Single();
        Assert.All(
            results.TrackedSteps[CodecGenerator.ContractsStep].SelectMany(step => step.Outputs),
            output => Assert.True(output.Reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged));
        Assert.All(
            results.TrackedOutputSteps.SelectMany(pair => pair.Value).SelectMany(step => step.Outputs),
            output => Assert.True(output.Reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged));
    }

    [Fact]
    public void A_contract_that_holds_one_with_a_problem_gets_no_codec_and_no_error_of_its_own()
    {
        var compilation = Driver.Compile(
            """
            [DataContract] public sealed class Holder { [DataMember(Order = 1)] public Broken? B { get; set; } }
            [DataContract] public sealed class Broken { [DataMember] public int X { get; set; } }
            """);
        Assert.Empty(Driver.Generate(compilation));
        Assert.Empty(Driver.Complaints(compilation));
    }

    [Fact]
    public void Contracts_of_other_assemblies_are_written_here_again_but_not_registered()
    {
        var library = Driver.Compile(
            """
            [assembly: System.Runtime.CompilerServices.InternalsVisibleTo("Consumer")]
            [DataContract] public sealed record Lib([property: DataMember(Order = 1)] int X, [property: DataMember(Order = 2)] Deep? Deep);
            [DataContract] public sealed record Deep([property: DataMember(Order = 1)] string Y);
            """,
            "Library");
        Driver.Run(library, out var generatedLibrary);
        using var image = new MemoryStream();
        Assert.True(generatedLibrary.Emit(image).Success);
        var consumer = Driver.Compile(
            "[DataContract] public sealed class C { [DataMember(Order = 1)] public List<Lib> X { get; set; } = []; }",
            "Consumer",
            MetadataReference.CreateFromImage(image.ToArray()));
        Assert.Empty(Driver.Complaints(consumer));
        var files = Driver.Generate(consumer);
        Assert.Equal(["CCodec.g.cs", "CodecRegistration.g.cs", "DeepCodec.g.cs", "LibCodec.g.cs"], files.Select(file => file.Name).Order());
        string registration = files.Single(file => file.Name == "CodecRegistration.g.cs").Text;
        Assert.Contains("Register<global::C>", registration);
        Assert.DoesNotContain("Lib", registration);
    }

    [Fact]
    public void Types_whose_names_would_meet_get_codecs_apart() => Assert.Empty(Driver.Complaints(Driver.Compile(
        """
        namespace A.B { [DataContract] public sealed class C { } }
        namespace A { [DataContract] public sealed class B_C { [DataMember(Order = 1)] public A.B.C? X { get; set; } } }
        """)));

    [Fact]
    public void A_project_with_overflow_checks_compiles_too() => Assert.Empty(Driver.Complaints(
        Driver.Compile(Everything).WithOptions(Driver.Options.WithOverflowChecks(true))));

    [Fact]
    public void Nothing_is_generated_where_QuickSilver_is_not_referenced()
    {
        var compilation = Driver.Compile("[DataContract] public sealed class C { [DataMember] public int X { get; set; } }");
        var without = compilation.RemoveReferences(compilation.References.Single(
            reference => reference.Display!.EndsWith("QuickSilver.Serialization.dll", StringComparison.Ordinal)));
        Assert.Empty(Driver.Generate(without));
    }
}
