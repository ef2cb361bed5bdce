using QuickSilver.Membership.Views;

namespace QuickSilver;

/// <summary>
/// The identity of one incarnation of a node, as its peers see it. A node that restarts may have the same id, but never the same
/// incarnation.
/// </summary>
/// <param name="Id">The random id of the node.</param>
/// <param name="Incarnation">The incarnation of the node.</param>
public readonly record struct NodeId(ulong Id, uint Incarnation)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Id:x16}.{Incarnation}";
}

internal static class NodeIds
{
    public static NamedNode Named(this INodeNames names, NodeId node) => names.Named(new NodeKey(node.Id, node.Incarnation));

    /// <summary>The name, if it is known, and the id, as <see cref="NamedNode"/> has them.</summary>
    public static string InWords(this NodeId node, string? name) =>
        new NamedNode(new NodeKey(node.Id, node.Incarnation), name ?? "").ToString();

    /// <summary>The id of a node that a person reads by its name.</summary>
    public static NodeId Id(this in NamedNode node) => new(node.Key.Id, node.Key.Incarnation);
}
