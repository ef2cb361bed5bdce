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
