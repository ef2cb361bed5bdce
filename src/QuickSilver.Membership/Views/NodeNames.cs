using System.Collections.Immutable;

namespace QuickSilver.Membership.Views;

// A node as a person reads it. Name: empty if it is unknown, or if the node is of a version without names.
internal readonly record struct NamedNode(NodeKey Key, string Name)
{
    public override string ToString() => Name.Length > 0 ? $"{Name} ({Key})" : Key.ToString();
}

// What the nodes of a cluster are called. From any thread.
internal interface INodeNames
{
    /// <summary>Null: the node is unknown, or is of a version without names.</summary>
    string? Find(NodeKey node);

    NamedNode Named(NodeKey node) => new(node, Find(node) ?? "");
}

// Where nodes have no names.
internal sealed class NoNodeNames : INodeNames
{
    public static readonly NoNodeNames Instance = new();

    public string? Find(NodeKey node) => null;
}

// The names of the members, which their roster has, and of those that left last: what is said of a node is often said after it has gone.
// Changed on the core thread alone; other threads see each change as a whole.
internal sealed class NodeNames(NamedNode self, NodeRoster roster) : INodeNames
{
    private readonly DepartedNames _departed = new();
    private NodeRoster _roster = roster;

    public string? Find(NodeKey node)
    {
        string? name = node == self.Key ? self.Name : Volatile.Read(ref _roster).Find(node)?.Name ?? _departed.Find(node);
        return name is { Length: > 0 } ? name : null;
    }

    /// <summary>The members after a configuration, which removed these; after a snapshot, all that are not among them are gone.</summary>
    public void OnRoster(NodeRoster next, bool isSnapshot, ImmutableArray<NodeKey> removed)
    {
        var gone = new List<NamedNode>();
        if (isSnapshot)
        {
            foreach (var node in _roster.All)
            {
                if (!next.Contains(node.Key))
                {
                    gone.Add(new NamedNode(node.Key, node.Name));
                }
            }
        }
        else
        {
            foreach (var node in removed)
            {
                gone.Add(new NamedNode(node, _roster.Find(node)?.Name ?? ""));
            }
        }

        _departed.Add(gone);
        Volatile.Write(ref _roster, next);
    }
}

// The names of the nodes that left last. One thread at a time may add; any may find.
internal sealed class DepartedNames
{
    public const int Most = 64;

    // Replaced as a whole, newest last.
    private NamedNode[] _nodes = [];

    public string? Find(NodeKey node)
    {
        foreach (var one in Volatile.Read(ref _nodes))
        {
            if (one.Key == node)
            {
                return one.Name;
            }
        }

        return null;
    }

    /// <summary>Of more than are remembered, the last.</summary>
    public void Add(List<NamedNode> nodes)
    {
        var named = nodes.FindAll(static node => node.Name.Length > 0);
        if (named.Count > 0)
        {
            var known = _nodes.Where(one => !named.Exists(node => node.Key == one.Key));
            Volatile.Write(ref _nodes, [.. known.Concat(named).TakeLast(Most)]);
        }
    }
}
