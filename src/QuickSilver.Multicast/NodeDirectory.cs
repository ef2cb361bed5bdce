using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// Who is alive, and where, as the membership service says. What is not in it is not heard (I10).
internal sealed class NodeDirectory
{
    private readonly Dictionary<NodeKey, (DatagramAddress Address, long JoinedAt)> _live = [];

    public bool Contains(NodeKey node) => _live.ContainsKey(node);

    public DatagramAddress? Find(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Address : null;

    /// <summary>The configuration with which this node came to know that one; 0 when it does not.</summary>
    public long JoinedAt(NodeKey node) => _live.TryGetValue(node, out var known) ? known.JoinedAt : 0;

    /// <summary>Applies a change and gives the nodes that are gone by it, in key order.</summary>
    public List<NodeKey> Apply(ConfigurationChange change)
    {
        var gone = new List<NodeKey>();
        if (change.IsSnapshot)
        {
            var present = new HashSet<NodeKey>();
            foreach (var node in change.Joined)
            {
                present.Add(node.Key);
            }

            foreach (var node in _live.Keys)
            {
                if (!present.Contains(node))
                {
                    gone.Add(node);
                }
            }
        }

        foreach (var node in change.Removed)
        {
            if (_live.ContainsKey(node))
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
            long joinedAt = _live.TryGetValue(node.Key, out var known) ? known.JoinedAt : change.Number;
            _live[node.Key] = (new DatagramAddress(node.EndPoint), joinedAt);
        }

        gone.Sort();
        return gone;
    }
}
