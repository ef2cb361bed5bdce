using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using QuickSilver.Generators.Reading;
using QuickSilver.Topics;

namespace QuickSilver.Generators;

/// <summary>Reports what is wrong with the topics that payload types declare, and types that declare one topic differently.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class TopicDeclarationAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(
        Rules.InvalidTopicName, Rules.UndeclarableTopic, Rules.TopicDeclaredTwice);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            if (start.Compilation.GetTypeByMetadataName(KnownTypes.Topic) is null)
            {
                return;
            }

            var declarations = new ConcurrentBag<TopicDeclaration>();
            start.RegisterSymbolAction(context => Analyze(context, declarations), SymbolKind.NamedType);
            start.RegisterCompilationEndAction(context => Compare(context, declarations));
        });
    }

    private static void Analyze(SymbolAnalysisContext context, ConcurrentBag<TopicDeclaration> declarations)
    {
        if (TopicDeclaration.Of((INamedTypeSymbol)context.Symbol) is not { } declared)
        {
            return;
        }

        var type = declared.Type;
        if (ReasonNotPayload(type) is { } reason)
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.UndeclarableTopic, declared.Location, type.Name, reason));
        }

        string? fault = declared.Name is null ? "it is null" : TopicName.Fault(declared.Name);
        if (fault is not null)
        {
            string text = char.ToLowerInvariant(fault[0]) + fault.Substring(1).TrimEnd('.');
            context.ReportDiagnostic(Diagnostic.Create(Rules.InvalidTopicName, declared.Location, type.Name, text));
            return;
        }

        declarations.Add(declared);
    }

    private static string? ReasonNotPayload(INamedTypeSymbol type) => type switch
    {
        { IsGenericType: true } =>
            "it is generic, so types with different payloads would have the topic: declare it at a type that is not generic",
        { TypeKind: TypeKind.Interface } when !type.HasSubtypes() =>
            "it is an interface without [Subtype], and the types that implement it do not inherit the declaration: declare it at the type "
            + "that is sent",
        { IsStatic: true } => "it is static, which no payload is: declare it at the type that is sent",
        { IsRefLikeType: true } => "it is a ref struct, which no payload is: make it a struct or a class",
        _ => null,
    };

    // Of those that declare one topic, each is compared with the first in the source.
    private static void Compare(CompilationAnalysisContext context, ConcurrentBag<TopicDeclaration> declarations)
    {
        foreach (var topic in declarations.GroupBy(static one => one.Name, StringComparer.Ordinal))
        {
            var ordered = topic
                .OrderBy(static one => one.Location.SourceTree?.FilePath, StringComparer.Ordinal)
                .ThenBy(static one => one.Location.SourceSpan.Start)
                .ToList();
            foreach (var other in ordered.Skip(1))
            {
                if (Difference(context.Compilation, ordered[0], other) is { } difference)
                {
                    context.ReportDiagnostic(Diagnostic.Create(
                        Rules.TopicDeclaredTwice, other.Location, ordered[0].Type.Name, other.Type.Name, topic.Key, difference));
                }
            }
        }
    }

    private static string? Difference(Compilation compilation, TopicDeclaration first, TopicDeclaration other)
    {
        if (first.Guarantee != other.Guarantee)
        {
            return $"the guarantees are {first.GuaranteeName} and {other.GuaranteeName}";
        }

        // Of a type with a codec of its own, or with a problem, the schema is not known.
        return first.Type.IsContract() && other.Type.IsContract()
            && ContractReader.Read(compilation, first.Type).Closure is { } one
            && ContractReader.Read(compilation, other.Type).Closure is { } two
                ? SchemaDifference.Find(one.Contract, two.Contract)
                : null;
    }
}
