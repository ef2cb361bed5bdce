using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace QuickSilver.Generators.Reading;

// The calls of a node and of a host's builder that open or add something with payload types.
internal static class TopicCalls
{
    /// <summary>Those whose first type argument is the payload of a topic.</summary>
    public static readonly ImmutableHashSet<string> Names = ImmutableHashSet.Create(
        "OpenTopicAsync", "OpenPublisherAsync", "OpenSubscriberAsync", "OpenPrefixAsync", "ReadAllAsync",
        "AddTopic", "AddPublisher", "AddSubscriber", "AddTopicHandler", "AddConsumer", "AddPrefix");

    /// <summary>The types that have them; none if the compilation does not use the library.</summary>
    public static ImmutableArray<INamedTypeSymbol> Openers(Compilation compilation) =>
    [
        .. new[] { KnownTypes.Node, KnownTypes.HostBuilder }.Select(compilation.GetTypeByMetadataName).OfType<INamedTypeSymbol>(),
    ];

    /// <summary>The name with the type arguments: a call in a chain begins where the chain does.</summary>
    public static SyntaxNode NameOf(IInvocationOperation call) =>
        call.Syntax is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax access } ? access.Name : call.Syntax;
}
