using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>
/// Reports topics that are opened with another guarantee than their payload type declares, and those that are opened without a name
/// although their type declares none.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class DeclaredTopicAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(
        Rules.ContradictedGuarantee, Rules.UndeclaredTopic);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(static start =>
        {
            var openers = TopicCalls.Openers(start.Compilation);
            var options = start.Compilation.GetTypeByMetadataName(KnownTypes.TopicOptions);
            if (!openers.IsEmpty && options is not null && start.Compilation.GetTypeByMetadataName(KnownTypes.Topic) is not null)
            {
                start.RegisterOperationAction(operation => Analyze(operation, openers, options), OperationKind.Invocation);
            }
        });
    }

    private static void Analyze(OperationAnalysisContext context, ImmutableArray<INamedTypeSymbol> openers, INamedTypeSymbol options)
    {
        var call = (IInvocationOperation)context.Operation;
        var method = call.TargetMethod;
        // Of a type parameter, only the caller knows.
        if (!TopicCalls.Names.Contains(method.Name)
            || method.TypeArguments.Length == 0
            || method.TypeArguments[0] is not { TypeKind: not (TypeKind.TypeParameter or TypeKind.Error) } payload
            || !openers.Contains(method.ContainingType, SymbolEqualityComparer.Default))
        {
            return;
        }

        if (TopicDeclaration.Of(payload) is { } declared)
        {
            foreach (var given in call.Arguments.SelectMany(argument => GuaranteesIn(argument, options)))
            {
                if (given.Value.ConstantValue is { HasValue: true, Value: int value } && value != declared.Guarantee)
                {
                    context.ReportDiagnostic(Diagnostic.Create(
                        Rules.ContradictedGuarantee,
                        given.Syntax.GetLocation(),
                        payload.Name,
                        declared.Name,
                        declared.GuaranteeName,
                        declared.NameOf(value)));
                }
            }
        }
        else if (!method.Parameters.Any(static parameter => parameter.Type.SpecialType == SpecialType.System_String))
        {
            context.ReportDiagnostic(Diagnostic.Create(
                Rules.UndeclaredTopic, TopicCalls.NameOf(call).GetLocation(), payload.ToDisplayString(), method.Name));
        }
    }

    // What is set in the expression of the options. A handler, which may open other topics, is no part of it.
    private static IEnumerable<ISimpleAssignmentOperation> GuaranteesIn(IArgumentOperation argument, INamedTypeSymbol options) =>
        argument.IsImplicit || argument.Parameter?.Type.TypeKind == TypeKind.Delegate
            ? []
            : argument.Value.DescendantsAndSelf().OfType<ISimpleAssignmentOperation>().Where(assignment =>
                assignment.Target is IPropertyReferenceOperation { Property: { Name: KnownTypes.Guarantee } property }
                && SymbolEqualityComparer.Default.Equals(property.ContainingType, options));
}
