using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Views;

namespace QuickSilver.Tool.Catalog;

// What people call the nodes of a cluster, by their ids. The service names only the nodes that it reports; others have their ids.
internal sealed class NodeNames
{
    private readonly Dictionary<NodeKey, string> _names = [];

    public static NodeNames Of(ClusterSnapshot signs)
    {
        var names = new NodeNames();
        foreach (var report in signs.Nodes)
        {
            names._names[report.Node.Node] = SafeText.Of(report.Node.Name);
        }

        return names;
    }

    public string NameOf(NodeKey node) => _names.GetValueOrDefault(node) is { Length: > 0 } name ? name : node.ToString();

    public string NameAndIdOf(NodeKey node) => NameOf(node) is var name && name != node.ToString() ? $"{name} ({node})" : name;
}
