using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;

namespace QuickSilver.Generators;

/// <summary>Reports null where a payload is published, asked or set: it has no encoding, so the call throws.</summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class NullPayloadAnalyzer : DiagnosticAnalyzer
{
    private static readonly ImmutableArray<string> Senders = ImmutableArray.Create(
        "QuickSilver.ITopicPublisher`1", "QuickSilver.IRequester`2", "QuickSilver.IState`2", "QuickSilver.Feeds.IFeedWriter`1");

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rules.NullPayload);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(start =>
        {
            var senders = Senders.Select(start.Compilation.GetTypeByMetadataName).OfType<INamedTypeSymbol>().ToImmutableArray();
            if (!senders.IsEmpty)
            {
                start.RegisterOperationAction(operation => Analyze(operation, senders), OperationKind.Invocation);
            }
        });
    }

    private static void Analyze(OperationAnalysisContext context, ImmutableArray<INamedTypeSymbol> senders)
    {
        var call = (IInvocationOperation)context.Operation;
        var method = call.TargetMethod.OriginalDefinition;
        if (!senders.Contains(method.ContainingType, SymbolEqualityComparer.Default))
        {
            return;
        }

        foreach (var argument in call.Arguments)
        {
            // A parameter of the type's own parameter is a payload.
            if (argument.ArgumentKind == ArgumentKind.Explicit
                && argument.Parameter?.OriginalDefinition.Type is ITypeParameterSymbol { TypeParameterKind: TypeParameterKind.Type }
                && IsNull(argument.Value))
            {
                context.ReportDiagnostic(Diagnostic.Create(Rules.NullPayload, argument.Syntax.GetLocation(), method.Name));
            }
        }
    }

    private static bool IsNull(IOperation value)
    {
        var inner = value;
        while (inner is IConversionOperation { OperatorMethod: null } conversion)
        {
            inner = conversion.Operand;
        }

        return inner.ConstantValue is { HasValue: true, Value: null } && value.Type is not { IsValueType: true };
    }
}
