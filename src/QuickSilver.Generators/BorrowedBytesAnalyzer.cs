using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Operations;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>
/// Reports where the bytes of a message, which are in memory that is used again for later messages, are kept: in a field, in a collection
/// that lives longer than the message, as a result, or in work that nothing awaits.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class BorrowedBytesAnalyzer : DiagnosticAnalyzer
{
    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rules.KeptBytes);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(start =>
        {
            if (start.Compilation.GetTypeByMetadataName(KnownTypes.Message) is { } message)
            {
                var borrowed = new BorrowedBytes(message);
                start.RegisterOperationAction(
                    operation => AnalyzeAssignment(operation, borrowed),
                    OperationKind.SimpleAssignment, OperationKind.CoalesceAssignment);
                start.RegisterOperationAction(operation => AnalyzeCall(operation, borrowed), OperationKind.Invocation);
            }
        });
    }

    private static void AnalyzeAssignment(OperationAnalysisContext context, BorrowedBytes borrowed)
    {
        var assignment = (IAssignmentOperation)context.Operation;
        if (borrowed.SourceOf(assignment.Value) is not { } source)
        {
            return;
        }

        // What an object initializer sets belongs to the new object, which may live as short as the message.
        bool isKept = assignment.Target is IMemberReferenceOperation or IArrayElementReferenceOperation
            && assignment.Parent is not IObjectOrCollectionInitializerOperation
            && source.IsOutlivedBy(Holder(assignment.Target));
        if (isKept)
        {
            Report(context, assignment.Value);
        }
    }

    private static void AnalyzeCall(OperationAnalysisContext context, BorrowedBytes borrowed)
    {
        var call = (IInvocationOperation)context.Operation;
        var method = call.TargetMethod;
        if (IsListing(method) && call.Arguments.Length > 0 && borrowed.IsSequenceOfMessages(Unwrap(call.Arguments[0].Value).Type))
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.KeptBytes, call.Syntax.GetLocation(), method.Name));
            return;
        }

        bool keeps = IsKeeping(method);
        bool isDropped = !keeps && (IsQueueing(method) || (IsTask(method.ReturnType) && IsDropped(call)));
        // Publishing copies the bytes before it returns.
        if (!(keeps || isDropped) || method.ContainingAssembly?.Name == "QuickSilver")
        {
            return;
        }

        foreach (var argument in call.Arguments)
        {
            var value = Unwrap(argument.Value);
            var source = value is IAnonymousFunctionOperation function ? borrowed.CapturedBy(function) : borrowed.SourceOf(value);
            if (source is not null && (isDropped || call.Instance is null || source.IsOutlivedBy(Holder(call.Instance))))
            {
                Report(context, argument.Value);
            }
        }
    }

    private static void Report(OperationAnalysisContext context, IOperation kept) =>
        context.ReportDiagnostic(Diagnostic.Create(Rules.KeptBytes, kept.Syntax.GetLocation(), kept.Syntax.ToString()));

    // The methods of collections, channels and completions that keep what they are given.
    private static bool IsKeeping(IMethodSymbol method) => method.Name switch
    {
        "Add" or "TryAdd" or "AddOrUpdate" or "GetOrAdd" or "AddFirst" or "AddLast" or "Insert" or "Enqueue" or "Push" or "SetItem" =>
            IsIn(method, "System.Collections"),
        "TryWrite" or "WriteAsync" => IsIn(method, "System.Threading.Channels"),
        "SetResult" or "TrySetResult" => IsIn(method, "System.Threading.Tasks"),
        _ => false,
    };

    private static bool IsListing(IMethodSymbol method) =>
        method.Name is "ToListAsync" or "ToArrayAsync" && IsIn(method, "System.Linq");

    private static bool IsQueueing(IMethodSymbol method) =>
        method.Name is "QueueUserWorkItem" or "UnsafeQueueUserWorkItem" && IsIn(method, "System.Threading");

    private static bool IsIn(IMethodSymbol method, string name) =>
        method.ContainingNamespace.ToDisplayString() is { } declared
        && (declared == name || declared.StartsWith($"{name}.", StringComparison.Ordinal));

    private static bool IsTask(ITypeSymbol type) =>
        type.Name is "Task" or "ValueTask" && type.ContainingNamespace?.ToDisplayString() == "System.Threading.Tasks";

    private static bool IsDropped(IOperation call) => call.Parent switch
    {
        IExpressionStatementOperation => true,
        ISimpleAssignmentOperation { Target: IDiscardOperation } => true,
        IConversionOperation conversion => IsDropped(conversion),
        _ => false,
    };

    // What the reference is read from in the end: a local variable, a parameter, or null for a field of an object or of a type.
    private static IOperation? Holder(IOperation target)
    {
        IOperation? at = target;
        while (true)
        {
            switch (at)
            {
                // What a field of any object refers to lives as long as other code likes.
                case IFieldReferenceOperation { Instance: not IInstanceReferenceOperation and not null } field when field == target:
                    at = field.Instance;
                    continue;
                case IPropertyReferenceOperation { Instance: not IInstanceReferenceOperation and not null } property:
                    at = property.Instance;
                    continue;
                case IArrayElementReferenceOperation element:
                    at = element.ArrayReference;
                    continue;
                case IConversionOperation conversion:
                    at = conversion.Operand;
                    continue;
                case ILocalReferenceOperation or IParameterReferenceOperation:
                    return at;
                default:
                    return null;
            }
        }
    }

    private static IOperation Unwrap(IOperation value) => value switch
    {
        IConversionOperation { OperatorMethod: null } conversion => Unwrap(conversion.Operand),
        IDelegateCreationOperation creation => Unwrap(creation.Target),
        _ => value,
    };
}
