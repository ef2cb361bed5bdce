using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// Who is alive, and where, as the membership service says. What is not in it is not heard (I10).
internal sealed class NodeDirectory
{
    private readonly Dictionary<NodeKey, (DatagramAddress Address, long AdmittedAt)> _live = [];

    public bool Contains(NodeKey node) => _live.ContainsKey(node);

    public DatagramAddress? Find(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Address : null;

    /// <summary>The configuration that made this node a member of the cluster; 0 when it is none.</summary>
    public long AdmittedAt(NodeKey node) => _live.TryGetValue(node, out var known) ? known.AdmittedAt : 0;

    /// <summary>
    /// Applies a change and gives the nodes that are gone by it, in key order. One that was away, in another cluster, and is
    /// a member again is gone first: what was sent before has nothing to do with what comes now. Nodes that return together
    /// from a service that ended have not lost each other.
    /// </summary>
    public List<NodeKey> Apply(ConfigurationChange change, NodeKey self)
    {
        var gone = new List<NodeKey>();
        var joined = new Dictionary<NodeKey, NodeInfo>();
        foreach (var node in change.Joined)
        {
            joined[node.Key] = node;
        }

        // When this node is the one that was away, those that were members before it have seen it go.
        long before = AdmittedAt(self);
        long now = joined.TryGetValue(self, out var own) ? own.AdmittedAt : before;
        bool wasAway = before != 0 && now != before;
        foreach (var (node, known) in _live)
        {
            if (node == self)
            {
                continue;
            }

            if (!joined.TryGetValue(node, out var info))
            {
                if (change.IsSnapshot || change.Removed.Contains(node))
                {
                    gone.Add(node);
                }
            }
            else if (change.Removed.Contains(node) || (wasAway ? info.AdmittedAt < now : info.AdmittedAt != known.AdmittedAt))
            {
                gone.Add(node);
            }
        }

        foreach (var node in gone)
        {
            _live.Remove(node);
        }

        foreach (var node in change.Joined)
        {
            _live[node.Key] = (new DatagramAddress(node.EndPoint), node.AdmittedAt);
        }

        gone.Sort();
        return gone;
    }
}
