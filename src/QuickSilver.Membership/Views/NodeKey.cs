using System.Net;

namespace QuickSilver.Membership.Views;

// One life of one node: a node that restarts keeps its id at most, never its incarnation, so what an old life sent is
// told apart for ever (I10). Ids are drawn at random (64 bits), so they need no authority and survive a restart of the
// service; incarnations are seconds of wall-clock time at start, and only compared for equality.
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
// where it came from then. Identity: who it has proved to be (IdentityId); none where there are no rules of access.
internal sealed record NodeInfo(
    NodeKey Key, IPEndPoint EndPoint, long JoinOrder, long AdmittedAt = 0, Origin Origin = default, ulong Identity = IdentityId.None)
{
    // What people call it (NodeName); empty: it is of a version without names.
    public string Name { get; init; } = "";
}

// The last configuration that a node had from another service, and the life of that service; nothing for a new node. Nodes
// that are admitted together and of one origin have lived through the same views, and go on with each other; of any others
// nobody can say what they know of each other, so all of them take each other for gone from what was before.
internal readonly record struct Origin(ulong Service, long Configuration);
