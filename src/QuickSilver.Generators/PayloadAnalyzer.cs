using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>
/// Reports topics that are opened, or added to a host, with a payload type that has no codec, where no options with one are passed.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class PayloadAnalyzer : DiagnosticAnalyzer
{
    // Options that have type arguments have codecs.
    private static readonly ImmutableHashSet<string> Options = ImmutableHashSet.Create(
        "TopicOptions", "RequesterOptions", "ResponderOptions", "StateOptions");

    // Their first two type arguments are payloads: requests and replies, keys and values.
    private static readonly ImmutableHashSet<string> PairCalls = ImmutableHashSet.Create(
        "OpenRequesterAsync", "OpenResponderAsync", "OpenStateAsync", "AddRequester", "AddResponder", "AddState");

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rules.PayloadWithoutCodec);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(start =>
        {
            var openers = TopicCalls.Openers(start.Compilation);
            if (!openers.IsEmpty)
            {
                var prefix = start.Compilation.GetTypeByMetadataName(KnownTypes.PrefixOptions);
                start.RegisterOperationAction(operation => Analyze(operation, openers, prefix), OperationKind.Invocation);
            }
        });
    }

    private static void Analyze(OperationAnalysisContext context, ImmutableArray<INamedTypeSymbol> openers, INamedTypeSymbol? prefix)
    {
        var call = (IInvocationOperation)context.Operation;
        var method = call.TargetMethod;
        bool isPair = PairCalls.Contains(method.Name);
        if ((!isPair && !TopicCalls.Names.Contains(method.Name))
            || method.TypeArguments.Length == 0
            || !openers.Contains(method.ContainingType, SymbolEqualityComparer.Default)
            || call.Arguments.Any(argument => !argument.IsImplicit && MayHaveCodec(argument.Value, prefix)))
        {
            return;
        }

        foreach (var payload in method.TypeArguments.Take(isPair ? 2 : 1))
        {
            if (!HasCodec(payload))
            {
                Report(context, call, payload);
            }
        }
    }

    private static void Report(OperationAnalysisContext context, IInvocationOperation call, ITypeSymbol payload)
    {
        string advice = payload.TypeKind is TypeKind.Class or TypeKind.Struct
            && payload.Locations.Any(static location => location.IsInSource)
            && payload is not INamedTypeSymbol { IsGenericType: true }
                ? $"mark '{payload.Name}' [DataContract] and its members [DataMember(Order = n)]"
                : "send a [DataContract] type that has it as a member";
        context.ReportDiagnostic(
            Diagnostic.Create(Rules.PayloadWithoutCodec, TopicCalls.NameOf(call).GetLocation(), payload.ToDisplayString(), advice));
    }

    // Of a type parameter, only the caller knows.
    private static bool HasCodec(ITypeSymbol type) => type switch
    {
        { TypeKind: TypeKind.TypeParameter or TypeKind.Error } => true,
        { SpecialType: SpecialType.System_String } => true,
        IArrayTypeSymbol { Rank: 1, ElementType.SpecialType: SpecialType.System_Byte } => true,
        INamedTypeSymbol named when named.OriginalDefinition.ToDisplayString() == KnownTypes.ReadOnlyMemory =>
            named.TypeArguments[0].SpecialType == SpecialType.System_Byte,
        _ => type.IsContract(),
    };

    // Options of a prefix that come from elsewhere may have such options of the topics.
    private static bool MayHaveCodec(IOperation value, INamedTypeSymbol? prefix)
    {
        while (value is IConversionOperation conversion)
        {
            value = conversion.Operand;
        }

        return value.DescendantsAndSelf().Any(static one => IsWithCodec(one.Type))
            || (value is not IObjectCreationOperation
                && prefix is not null
                && SymbolEqualityComparer.Default.Equals(value.Type?.OriginalDefinition, prefix));
    }

    private static bool IsWithCodec(ITypeSymbol? type) =>
        type is INamedTypeSymbol { IsGenericType: true } named
        && Options.Contains(named.Name)
        && named.ContainingNamespace.ToDisplayString() == "QuickSilver";
}
