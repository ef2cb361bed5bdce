using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace QuickSilver.Generators.Reading;

// Which expressions are the bytes of a message, or the message with them, and how long those are valid.
//
// Intuition: a payload of ReadOnlyMemory<byte> is a view of memory that the library uses again, and so is the message that has it. A copy
// of either is the same view. Application: it comes as the parameter of a handler or consumer, as the variable of a loop over a reader, or
// as the current element of an enumerator, and is followed through local variables that are assigned once. What goes wrong: a view that
// passes through another method or type is not followed, so not each use is found. What is found is wrong, as a rule.
internal sealed class BorrowedBytes(INamedTypeSymbol message)
{
    /// <summary>The source of what the expression refers to; null if that is not borrowed, or not known to be.</summary>
    public BorrowedSource? SourceOf(IOperation value) => value switch
    {
        IConversionOperation { OperatorMethod: null } conversion => SourceOf(conversion.Operand),
        IParenthesizedOperation parenthesized => SourceOf(parenthesized.Operand),
        ITupleOperation tuple => tuple.Elements.Select(SourceOf).FirstOrDefault(static source => source is not null),
        IPropertyReferenceOperation { Property.Name: "Value", Instance: { } instance } when IsMessage(instance.Type) => SourceOf(instance),
        IPropertyReferenceOperation { Property.Name: "Current" } current when IsMessage(current.Type) =>
            new BorrowedSource(LoopAround(current.Syntax)),
        IInvocationOperation { TargetMethod.Name: "Slice", Instance: { } sliced } when IsBytes(sliced.Type) => SourceOf(sliced),
        IParameterReferenceOperation parameter when IsMessage(parameter.Type) => OfParameter(parameter.Parameter),
        ILocalReferenceOperation local when IsMessage(local.Type) || IsBytes(local.Type) => OfLocal(local),
        _ => null,
    };

    /// <summary>The source of borrowed bytes that a function uses and does not get itself; null if there is none.</summary>
    public BorrowedSource? CapturedBy(IAnonymousFunctionOperation function) => function.Descendants()
        .Where(static operation => operation is IParameterReferenceOperation or ILocalReferenceOperation)
        .Select(SourceOf)
        .FirstOrDefault(source => source is not null && !function.Syntax.Span.Contains(source.Scope.Span));

    public bool IsSequenceOfMessages(ITypeSymbol? type) =>
        type is INamedTypeSymbol { Name: "IAsyncEnumerable", TypeArguments.Length: 1 } sequence && IsMessage(sequence.TypeArguments[0]);

    private bool IsMessage(ITypeSymbol? type) => type is INamedTypeSymbol { TypeArguments.Length: 1 } named
        && SymbolEqualityComparer.Default.Equals(named.OriginalDefinition, message)
        && IsBytes(named.TypeArguments[0]);

    private static bool IsBytes(ITypeSymbol? type) => type is INamedTypeSymbol { Name: "ReadOnlyMemory", TypeArguments.Length: 1 } memory
        && memory.TypeArguments[0].SpecialType == SpecialType.System_Byte;

    // A responder, which returns a value, has a copy of the request.
    private static BorrowedSource? OfParameter(IParameterSymbol parameter) =>
        parameter.ContainingSymbol is IMethodSymbol { ReturnType: not INamedTypeSymbol { IsGenericType: true } } method
        && BorrowedSource.DeclarationOf(method) is { } declaration
            ? new BorrowedSource(declaration)
            : null;

    private BorrowedSource? OfLocal(ILocalReferenceOperation reference)
    {
        if (reference.SemanticModel is not { } model)
        {
            return null;
        }

        switch (BorrowedSource.DeclarationOf(reference.Local))
        {
            case ForEachStatementSyntax loop:
                return IsMessage(reference.Type) && loop.AwaitKeyword != default ? new BorrowedSource(loop) : null;
            case VariableDeclaratorSyntax { Initializer.Value: { } initial } declarator:
                return model.GetOperation(initial) is { } value && !IsAssigned(reference.Local, declarator, model) ? SourceOf(value) : null;
            default:
                return null;
        }
    }

    // Whether it has another value later, maybe a copy of its own.
    private static bool IsAssigned(ILocalSymbol local, SyntaxNode declarator, SemanticModel model) =>
        declarator.FirstAncestorOrSelf<BlockSyntax>() is { } block
        && block.DescendantNodes().OfType<AssignmentExpressionSyntax>().Any(assignment =>
            assignment.Left is IdentifierNameSyntax name && name.Identifier.ValueText == local.Name
            && SymbolEqualityComparer.Default.Equals(model.GetSymbolInfo(name).Symbol, local));

    private static SyntaxNode LoopAround(SyntaxNode node) => node.Ancestors().First(static one =>
        one.IsKind(SyntaxKind.WhileStatement) || one.IsKind(SyntaxKind.ForStatement) || one.IsKind(SyntaxKind.DoStatement)
        || one is AnonymousFunctionExpressionSyntax or LocalFunctionStatementSyntax or MemberDeclarationSyntax or CompilationUnitSyntax);
}

// Where borrowed bytes come from: the function that gets them, or the loop of which they are the element.
internal sealed class BorrowedSource(SyntaxNode scope)
{
    public SyntaxNode Scope => scope;

    /// <summary>Whether what is kept there is there when the bytes are not valid any more. Null: a field, which always is.</summary>
    public bool IsOutlivedBy(IOperation? holder) => holder switch
    {
        ILocalReferenceOperation { Local: { } local } => IsOutside(local),
        // What a caller passes to the function that gets the bytes is the caller's to judge.
        IParameterReferenceOperation { Parameter: { } parameter } => IsOutside(parameter.ContainingSymbol),
        _ => true,
    };

    /// <summary>Where a symbol is declared; null if that is not one place in source.</summary>
    public static SyntaxNode? DeclarationOf(ISymbol symbol) =>
        symbol.DeclaringSyntaxReferences.Length == 1 ? symbol.DeclaringSyntaxReferences[0].GetSyntax() : null;

    private bool IsOutside(ISymbol symbol) => DeclarationOf(symbol) is { } declaration && !scope.Span.Contains(declaration.Span);
}
