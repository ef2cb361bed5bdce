using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>
/// Reports what about a <c>[DataContract]</c> type cannot be serialized, or would be lost, at the place where it is written.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class ContractAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(
        Rules.UnsupportedMemberType,
        Rules.MissingOrder,
        Rules.DuplicateOrder,
        Rules.OrderOutOfRange,
        Rules.InaccessibleContract,
        Rules.NoUsableConstructor,
        Rules.OpenGenericContract,
        Rules.ContractInheritance,
        Rules.UnusableMember,
        Rules.NoMembers,
        Rules.InvalidSubtype,
        Rules.SubtypesOfConcreteType,
        Rules.ForgottenMember,
        Rules.LostKind);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(start =>
        {
            if (start.Compilation.GetTypeByMetadataName(KnownTypes.Codec) is not null)
            {
                start.RegisterSymbolAction(Analyze, SymbolKind.NamedType);
            }
        });
    }

    private static void Analyze(SymbolAnalysisContext context)
    {
        if (context.Symbol is INamedTypeSymbol type && type.IsContract())
        {
            var problems = ContractReader.Read(context.Compilation, type).Problems;
            foreach (var problem in problems)
            {
                context.ReportDiagnostic(problem.ToDiagnostic());
            }

            if (problems.Count > 0)
            {
                return;
            }

            foreach (var doubt in ForgottenMembers.In(type).Concat(LostKinds.In(type)))
            {
                context.ReportDiagnostic(doubt.ToDiagnostic());
            }
        }
    }
}
