namespace QuickSilver;

/// <summary>An incarnation of a publishing node. A node that restarts may have the same id, but never the same incarnation.</summary>
/// <param name="Id">The random id of the node.</param>
/// <param name="Incarnation">The incarnation of the node.</param>
public readonly record struct SenderId(ulong Id, uint Incarnation)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Id:x16}.{Incarnation}";
}
