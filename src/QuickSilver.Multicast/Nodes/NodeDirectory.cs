using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes;

// The live nodes and their addresses, as the membership service has announced them. Packets of other nodes are dropped (I10).
//
// Nodes share the roster (NodeRoster). This node keeps little for itself: the addresses to which it sends, and for the nodes with which it
// came from another cluster, since when they have been together. With every other node it has been together since the later of the two was
// admitted.
internal sealed class NodeDirectory(NodeRoster roster)
{
    private NodeRoster _roster = roster;
    // This node, even if the service has removed it.
    private NodeInfo? _self;
    private Dictionary<NodeKey, long>? _since;
    private Dictionary<NodeKey, DatagramAddress>? _addresses;
    // Null until a node that has proved its identity was removed.
    private DepartedIdentities? _departed;

    /// <summary>The last configuration applied; 0 before the first.</summary>
    public long Applied { get; private set; }

    private long Admitted => _self?.AdmittedAt ?? 0;

    public bool Contains(NodeKey node) => Known(node) is not null;

    /// <summary>
    /// The identity that a member, or a node that was removed not long ago, has proved; none where no node proves any. Null: no such node
    /// is known.
    /// </summary>
    public ulong? IdentityOf(NodeKey node) => Known(node)?.Identity ?? _departed?.Find(node);

    /// <summary>Whether a member is at this address.</summary>
    public bool HasMemberAt(IPEndPoint address)
    {
        foreach (var node in _roster.All)
        {
            if (node.EndPoint.Equals(address))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Removes the identities of the members from the set.</summary>
    public void RemoveMembers(HashSet<ulong> identities)
    {
        foreach (var node in _roster.All)
        {
            identities.Remove(node.Identity);
        }
    }

    /// <summary>
    /// The nodes of this list, which is in ascending order, that are not members now. Includes this node if it was removed.
    /// </summary>
    public List<NodeKey> Lacking(ReadOnlySpan<NodeKey> nodes) => _roster.Lacking(nodes);

    public DatagramAddress? Find(NodeKey node)
    {
        if (_addresses is not null && _addresses.TryGetValue(node, out var address))
        {
            return address;
        }

        if (Known(node) is not { } known)
        {
            return null;
        }

        address = new DatagramAddress(known.EndPoint);
        (_addresses ??= []).Add(node, address);
        return address;
    }

    /// <summary>
    /// The configuration since which this node and that node have been in one cluster without interruption. A change of the service is no
    /// interruption if they went through it together. 0 if the node is not a member.
    /// </summary>
    public long TogetherSince(NodeKey node)
    {
        if (Known(node) is not { } known)
        {
            return 0;
        }

        return _since is not null && _since.TryGetValue(node, out long since) ? since : Math.Max(known.AdmittedAt, Admitted);
    }

    /// <summary>Whether the node was admitted by this configuration, and had none before.</summary>
    public bool IsNew(NodeKey node, long configuration) =>
        Known(node) is { } known && known.AdmittedAt == configuration && known.Origin == default;

    /// <summary>
    /// Whether this node and that node share a view of this configuration. They share a view from before this node was admitted only if
    /// they came together. Any other member, known before or not, has given up that view, or never knew it.
    /// </summary>
    public bool Shares(NodeKey node, long configuration) =>
        Contains(node) && (configuration >= Admitted || TogetherSince(node) < Admitted);

    /// <summary>
    /// Applies a change. Returns the nodes that this node has lost by it, in key order. One that was away, in another cluster, and is a
    /// member again is removed first: what it sent before is unrelated to what it sends now. If this node itself is admitted again, the
    /// same holds for all other nodes except those that were admitted together with it from the same origin. Any two nodes judge each other
    /// alike, so neither waits for the other in a view that the other has given up.
    /// </summary>
    public List<LostNode> Apply(ConfigurationChange change, NodeKey self)
    {
        Applied = change.Number;
        if (!change.IsSnapshot && change.Joined.IsEmpty && change.Removed.IsEmpty)
        {
            return [];
        }

        var next = _roster.After(change.IsSnapshot, change.Joined, change.Removed);
        var gone = TryStep(change, next, self) ?? Compare(change, next, self);
        Remember(gone);
        _self = next.Find(self) ?? _self;
        _roster = next;
        _addresses = null;
        return gone;
    }

    // Handles the first configuration, and those in which other nodes join or leave: the state between this node and others does not
    // change, so only the named nodes are examined. Null for all other changes.
    private List<LostNode>? TryStep(ConfigurationChange change, NodeRoster next, NodeKey self)
    {
        if (_self is null && _roster.Count == 0)
        {
            return [];
        }

        if (change.IsSnapshot || _since is not null || !_roster.Contains(self) || next.Find(self)?.AdmittedAt != Admitted)
        {
            return null;
        }

        var gone = new List<LostNode>();
        foreach (var node in change.Removed)
        {
            if (node != self && _roster.Contains(node))
            {
                gone.Add(Lost(node));
            }
        }

        int removed = gone.Count;
        foreach (var node in change.Joined)
        {
            if (node.Key != self && _roster.Find(node.Key) is { } known && known.AdmittedAt != node.AdmittedAt
                && gone.FindIndex(0, removed, lost => lost.Key == node.Key) < 0)
            {
                gone.Add(Lost(node.Key));
            }
        }

        gone.Sort(static (one, other) => one.Key.CompareTo(other.Key));
        return gone;
    }

    private List<LostNode> Compare(ConfigurationChange change, NodeRoster next, NodeKey self)
    {
        var joined = new Dictionary<NodeKey, NodeInfo>();
        foreach (var node in change.Joined)
        {
            joined[node.Key] = node;
        }

        var removed = new HashSet<NodeKey>(change.Removed);
        long before = Admitted;
        var own = joined.GetValueOrDefault(self);
        long admitted = own?.AdmittedAt ?? before;
        var company = before != 0 && admitted != before ? own : null;
        var gone = new List<LostNode>();
        var together = new Dictionary<NodeKey, long>();
        foreach (var known in _roster.All)
        {
            var node = known.Key;
            bool isGone = joined.TryGetValue(node, out var info)
                ? removed.Contains(node) || !IsSame(info, known, company)
                : change.IsSnapshot || removed.Contains(node);
            if (node != self && isGone)
            {
                gone.Add(Lost(node));
            }
            else
            {
                Keep(together, info ?? known, admitted);
            }
        }

        if (_self is not null && !_roster.Contains(self))
        {
            Keep(together, own ?? _self, admitted);
        }

        _since = together.Count > 0 ? together : null;
        return gone;
    }

    // A node that stays has been together with this node since the earlier time, whatever the configuration says about when both were
    // admitted.
    private void Keep(Dictionary<NodeKey, long> together, NodeInfo info, long admitted)
    {
        long since = TogetherSince(info.Key);
        if (since != Math.Max(info.AdmittedAt, admitted))
        {
            together.Add(info.Key, since);
        }
    }

    private LostNode Lost(NodeKey node) => new(node, TogetherSince(node), _roster.Find(node)?.EndPoint);

    private void Remember(List<LostNode> gone)
    {
        foreach (var (node, _, _) in gone)
        {
            if (_roster.Find(node) is { Identity: not IdentityId.None } known)
            {
                (_departed ??= new DepartedIdentities()).Add(node, known.Identity);
            }
        }
    }

    private NodeInfo? Known(NodeKey node) => _roster.Find(node) ?? (node == _self?.Key ? _self : null);

    private static bool IsSame(NodeInfo info, NodeInfo known, NodeInfo? company) => company is null
        ? info.AdmittedAt == known.AdmittedAt
        : info.AdmittedAt == company.AdmittedAt && info.Origin == company.Origin;
}

// A node that was removed, or was away. Since: the configuration since which it and this node had been together.
internal readonly record struct LostNode(NodeKey Key, long Since, IPEndPoint? EndPoint = null);

// The identities of the nodes that were removed last. Others may still pass on what they sent.
internal sealed class DepartedIdentities
{
    public const int Most = 1024;

    private readonly Dictionary<NodeKey, ulong> _identities = [];
    private readonly Queue<NodeKey> _byAge = new();

    public ulong? Find(NodeKey node) => _identities.TryGetValue(node, out ulong identity) ? identity : null;

    public void Add(NodeKey node, ulong identity)
    {
        if (_identities.TryAdd(node, identity))
        {
            _byAge.Enqueue(node);
        }

        if (_byAge.Count > Most)
        {
            _identities.Remove(_byAge.Dequeue());
        }
    }
}
