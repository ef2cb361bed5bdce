using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// Who is alive, and where, as the membership service says. What is not in it is not heard (I10).
internal sealed class NodeDirectory
{
    private readonly Dictionary<NodeKey, Entry> _live = [];

    private readonly record struct Entry(DatagramAddress Address, long AdmittedAt, long Since);

    public bool Contains(NodeKey node) => _live.ContainsKey(node);

    public DatagramAddress? Find(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Address : null;

    /// <summary>
    /// The configuration since which this node and that one have been in one cluster without a break: also over a change of
    /// the service, if they went through it together. 0 when it is no member.
    /// </summary>
    public long TogetherSince(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Since : 0;

    /// <summary>
    /// Applies a change and gives the nodes that are gone by it, in key order. One that was away, in another cluster, and is
    /// a member again is gone first: what was sent before has nothing to do with what comes now. When it is this node that is
    /// admitted anew, that is so of all others but those that were admitted together with it from the same origin: each two
    /// nodes judge each other alike, so neither waits for the other in a view that the other has given up.
    /// </summary>
    public List<NodeKey> Apply(ConfigurationChange change, NodeKey self)
    {
        var gone = new List<NodeKey>();
        var joined = new Dictionary<NodeKey, NodeInfo>();
        foreach (var node in change.Joined)
        {
            joined[node.Key] = node;
        }

        long before = _live.TryGetValue(self, out var old) ? old.AdmittedAt : 0;
        var own = joined.GetValueOrDefault(self);
        long admitted = own?.AdmittedAt ?? before;
        var company = before != 0 && admitted != before ? own : null;
        foreach (var (node, known) in _live)
        {
            bool isGone = joined.TryGetValue(node, out var info)
                ? change.Removed.Contains(node) || !IsSame(info, known, company)
                : change.IsSnapshot || change.Removed.Contains(node);
            if (node != self && isGone)
            {
                gone.Add(node);
            }
        }

        foreach (var node in gone)
        {
            _live.Remove(node);
        }

        foreach (var (key, node) in joined)
        {
            long since = _live.TryGetValue(key, out var known) ? known.Since : Math.Max(node.AdmittedAt, admitted);
            _live[key] = new Entry(new DatagramAddress(node.EndPoint), node.AdmittedAt, since);
        }

        gone.Sort();
        return gone;
    }

    private static bool IsSame(NodeInfo info, Entry known, NodeInfo? company) => company is null
        ? info.AdmittedAt == known.AdmittedAt
        : info.AdmittedAt == company.AdmittedAt && info.Origin == company.Origin;
}
