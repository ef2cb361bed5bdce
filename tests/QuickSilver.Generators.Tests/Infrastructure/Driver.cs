using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Generators.Tests.Infrastructure;

// Compiles a piece of source with the generator and the analyzers, as a user's project would: nullable, warnings as errors.
internal static class Driver
{
    private const string Usings = """
        global using System;
        global using System.Collections.Generic;
        global using System.Collections.Immutable;
        global using System.Runtime.Serialization;
        """;

    private static readonly ImmutableArray<MetadataReference> References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetFileName(path).StartsWith("System.", StringComparison.Ordinal))
            .Select(path => MetadataReference.CreateFromFile(path)),
        MetadataReference.CreateFromFile(typeof(GeneratedCodecs).Assembly.Location),
    ];

    public static CSharpCompilationOptions Options { get; } = new(
        OutputKind.DynamicallyLinkedLibrary,
        nullableContextOptions: NullableContextOptions.Enable,
        generalDiagnosticOption: ReportDiagnostic.Error,
        warningLevel: 9999);

    /// <summary>All analyzers that the package has.</summary>
    public static ImmutableArray<DiagnosticAnalyzer> Analyzers { get; } =
    [
        new ContractAnalyzer(), new HandlerAnalyzer(), new PayloadAnalyzer(), new NullPayloadAnalyzer(), new BorrowedBytesAnalyzer(),
        new TopicDeclarationAnalyzer(), new DeclaredTopicAnalyzer(),
    ];

    public static CSharpCompilation Compile(string source, string name = "Consumer", params MetadataReference[] more) =>
        CSharpCompilation.Create(
            name,
            [CSharpSyntaxTree.ParseText(Usings, path: "usings.cs"), CSharpSyntaxTree.ParseText(source, path: "source.cs")],
            [.. References, .. more],
            Options);

    public static GeneratorDriver Run(Compilation compilation, out Compilation generated) => CSharpGeneratorDriver
        .Create(
            [new CodecGenerator().AsSourceGenerator()],
            driverOptions: new GeneratorDriverOptions(default, trackIncrementalGeneratorSteps: true))
        .RunGeneratorsAndUpdateCompilation(compilation, out generated, out _);

    // The texts of what was generated, by file.
    public static IReadOnlyList<(string Name, string Text)> Generate(Compilation compilation) =>
        [
            .. Run(compilation, out _).GetRunResult().Results.Single().GeneratedSources
                .Select(file => (file.HintName, file.SourceText.ToString())),
        ];

    // What the analyzers report, as "QS0001: message", in the order of the source.
    public static async Task<IReadOnlyList<string>> AnalyzeAsync(Compilation compilation)
    {
        var diagnostics = await compilation
            .WithAnalyzers(Analyzers)
            .GetAnalyzerDiagnosticsAsync();
        // Warnings are errors, as in the projects of many users; suggestions are not.
        Assert.All(diagnostics, diagnostic => Assert.Equal(
            diagnostic.DefaultSeverity == DiagnosticSeverity.Info ? DiagnosticSeverity.Info : DiagnosticSeverity.Error,
            diagnostic.Severity));
        return [.. diagnostics.OrderBy(found => found.Location.SourceSpan.Start).Select(found => $"{found.Id}: {found.GetMessage()}")];
    }

    // The parts of the source that the analyzers mark, in its order.
    public static async Task<IReadOnlyList<string>> MarkAsync(Compilation compilation)
    {
        var diagnostics = await compilation.WithAnalyzers(Analyzers).GetAnalyzerDiagnosticsAsync();
        return
        [
            .. diagnostics.Select(static found => found.Location).OrderBy(static found => found.SourceSpan.Start)
                .Select(static found => found.SourceTree!.GetText().ToString(found.SourceSpan)),
        ];
    }

    // All that the compiler says of the source and of what was generated for it.
    public static IReadOnlyList<string> Complaints(Compilation compilation)
    {
        Run(compilation, out var generated);
        var found = generated.GetDiagnostics().Where(diagnostic => diagnostic.Severity != DiagnosticSeverity.Hidden);
        return [.. found.Select(diagnostic => diagnostic.ToString())];
    }
}
