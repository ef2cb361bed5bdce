using System.Net;

namespace QuickSilver.Membership.Views;

// One life of one node. A node that restarts may keep its id, but never its incarnation, so messages of an old life can always be
// distinguished (I10). Ids are drawn at random (64 bits), so they need no authority and survive a restart of the service. Incarnations are
// seconds of wall-clock time at start, and are only compared for equality.
internal readonly record struct NodeKey(ulong Id, uint Incarnation) : IComparable<NodeKey>
{
    public int CompareTo(NodeKey other)
    {
        int byId = Id.CompareTo(other.Id);
        return byId != 0 ? byId : Incarnation.CompareTo(other.Incarnation);
    }

    public override string ToString() => $"{Id:x16}.{Incarnation}";
}

// A live node as the service knows it. JoinOrder grows with each join: the lowest is the longest-standing. AdmittedAt: the
// configuration that made it a member of this service's cluster; a node that returns from elsewhere gets a new one. Origin:
// where it came from then. Identity: the identity that it has proved (IdentityId); none where there are no rules of access.
internal sealed record NodeInfo(
    NodeKey Key, IPEndPoint EndPoint, long JoinOrder, long AdmittedAt = 0, Origin Origin = default, ulong Identity = IdentityId.None)
{
    // What people call it (NodeName); empty: it is of a version without names.
    public string Name { get; init; } = "";
}

// The last configuration that a node had from another service, and the life of that service; nothing for a new node. Nodes of one origin
// that are admitted together have had the same views, and continue with each other. It is unknown what other nodes know of each other,
// so these treat each other as removed.
internal readonly record struct Origin(ulong Service, long Configuration);
