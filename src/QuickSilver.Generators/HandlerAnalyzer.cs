using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using QuickSilver.Generators.Reading;

namespace QuickSilver.Generators;

/// <summary>
/// Reports handlers of the core thread that are asynchronous: those marked <c>async</c>, for which the compiler's own message names no way
/// out, and those that drop a task, which compile.
/// </summary>
[DiagnosticAnalyzer(LanguageNames.CSharp)]
public sealed class HandlerAnalyzer : DiagnosticAnalyzer
{
    private const string Call = "SubscribeInline";

    /// <inheritdoc/>
    public override ImmutableArray<DiagnosticDescriptor> SupportedDiagnostics { get; } = ImmutableArray.Create(Rules.AsynchronousHandler);

    /// <inheritdoc/>
    public override void Initialize(AnalysisContext context)
    {
        context.EnableConcurrentExecution();
        context.ConfigureGeneratedCodeAnalysis(GeneratedCodeAnalysisFlags.None);
        context.RegisterCompilationStartAction(start =>
        {
            if (start.Compilation.GetTypeByMetadataName(KnownTypes.Subscriber) is { } subscriber)
            {
                start.RegisterSyntaxNodeAction(node => Analyze(node, subscriber), SyntaxKind.InvocationExpression);
            }
        });
    }

    private static void Analyze(SyntaxNodeAnalysisContext context, INamedTypeSymbol subscriber)
    {
        var call = (InvocationExpressionSyntax)context.Node;
        if (call.Expression is not MemberAccessExpressionSyntax { Name.Identifier.ValueText: Call } member
            || call.ArgumentList.Arguments.Count == 0
            || !IsSubscriber(context.SemanticModel.GetTypeInfo(member.Expression).Type, subscriber))
        {
            return;
        }

        var handler = call.ArgumentList.Arguments
            .FirstOrDefault(static argument => argument.NameColon?.Name.Identifier.ValueText is null or "handler")?.Expression;
        if (handler is not null && Asynchronous(handler, context.SemanticModel) is { } found)
        {
            context.ReportDiagnostic(Diagnostic.Create(Rules.AsynchronousHandler, found.At.GetLocation(), found.What));
        }
    }

    private static bool IsSubscriber(ITypeSymbol? type, INamedTypeSymbol subscriber) => type is not null
        && type.AllInterfaces.Concat(new[] { type }).Any(
            one => SymbolEqualityComparer.Default.Equals(one.OriginalDefinition, subscriber));

    private static (SyntaxNode At, string What)? Asynchronous(ExpressionSyntax handler, SemanticModel model)
    {
        if (handler is not AnonymousFunctionExpressionSyntax function)
        {
            var info = model.GetSymbolInfo(handler);
            var methods = info.Symbol is { } symbol ? ImmutableArray.Create(symbol) : info.CandidateSymbols;
            return methods.OfType<IMethodSymbol>().Any(static method => method.IsAsync) ? (handler, "is async") : null;
        }

        if (function.AsyncKeyword != default)
        {
            return (function, "is async");
        }

        var dropped = function.ExpressionBody is { } body
            ? IsTask(body, model) ? body : null
            : function.Block?.Statements.OfType<ExpressionStatementSyntax>()
                .Select(static statement => statement.Expression)
                .FirstOrDefault(expression => expression is InvocationExpressionSyntax && IsTask(expression, model));
        return dropped is null ? null : (dropped, "drops a task, whose exception is lost");
    }

    private static bool IsTask(ExpressionSyntax expression, SemanticModel model) => expression is not AssignmentExpressionSyntax
        && model.GetTypeInfo(expression).Type is INamedTypeSymbol { Name: "Task" or "ValueTask" } type
        && type.ContainingNamespace.ToDisplayString() == "System.Threading.Tasks";
}
