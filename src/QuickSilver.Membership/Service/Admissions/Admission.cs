using System.Net;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Takeover;

namespace QuickSilver.Membership.Service.Admissions;

// Decides which nodes may join, and knows which lives are over. A node whose life is over is notified when it returns, and is not taken for
// a new one (I10), even if an earlier service ended that life. A life that has meanwhile continued under another service is not over: it
// was on the other side of a divided network. Which of two lives of a node is newer does not follow from their incarnations, which come
// from a clock: the one that joins last is newer.
internal sealed class Admission(
    string cluster,
    ConfigurationNumbers numbers,
    EndedLives ended,
    MemberTable members,
    ulong life,
    Func<IPAddress?> listensOn)
{
    private const int MaxProved = 256;
    // What a node may claim of its place in the order of joining leaves room for all that join after it.
    private const long MostClaimedOrder = 1L << 48;

    private long _nextJoinOrder = 1;
    // Ids that another node had before their owner proved them; null until there is one.
    private Queue<ulong>? _proved;

    /// <summary>Null when the node fits this service; otherwise a sentence.</summary>
    public string? Refuse(JoinMessage join, IPAddress? from)
    {
        if (join.ProtocolVersion != ControlFrame.ProtocolVersion)
        {
            return $"This membership service speaks protocol version {ControlFrame.ProtocolVersion};"
                + $" the node speaks {join.ProtocolVersion}.";
        }

        if (join.Cluster != cluster)
        {
            return $"This is the membership service of cluster '{cluster}'; the node belongs to '{join.Cluster}'.";
        }

        if (_proved?.Contains(join.Node.Id) == true && !join.IsProved)
        {
            return $"The key {join.Node} is that of another node. Restart this node.";
        }

        return RefuseAddress(join.EndPoint.Address, from)
            ?? ((join.Service == life ? join.Known <= numbers.Current : numbers.IsPlausible(join.Known))
            ? null
            : $"The node claims configuration {join.Known}, which no service can have issued yet.");
    }

    /// <summary>
    /// Whether a node that joins with the key of a member is another one. All nodes know the keys of all: only the one that was admitted
    /// with a key keeps it.
    /// </summary>
    public static bool IsOfOther(Member known, ControlSession session, JoinMessage join) =>
        (known.Identity is { } owner && owner != session.Peer?.Name) || (known.IsProved && !join.IsProved);

    // A loopback address is reached by its own machine only.
    private string? RefuseAddress(IPAddress address, IPAddress? from)
    {
        bool isLoopback = IPAddress.IsLoopback(address);
        if (isLoopback && from is not null && !IPAddress.IsLoopback(from))
        {
            return $"The node has the loopback address {address}, but connects from {from}. Other machines cannot reach it."
                + " Set its option Interface to an address that the other members can reach.";
        }

        // The first member decides for all. A program on the service's own machine, where the name of the service may mean a loopback
        // address, would keep all other machines out.
        if (isLoopback && listensOn() is { } listens && !IPAddress.IsLoopback(listens))
        {
            return $"The node has the loopback address {address}, but this service listens on {listens}, for nodes on other machines."
                + " They could not reach it. Set its option Interface to an address that the other members can reach.";
        }

        foreach (var member in members)
        {
            var other = member.Info.EndPoint.Address;
            if (other.AddressFamily != address.AddressFamily)
            {
                return $"The node is at {address} and a member is at {other}. The nodes of a cluster use addresses of one kind: IPv4 or"
                    + " IPv6. Set the option Interface to an address of the kind that the members have.";
            }

            if (IPAddress.IsLoopback(other) != isLoopback)
            {
                return $"The node is at {address} and a member is at {other}, but other machines cannot reach the loopback address"
                    + $" {(isLoopback ? address : other)}. Set the option Interface there to an address that the others can reach.";
            }

            // All are alike.
            break;
        }

        return null;
    }

    /// <summary>Why this life is over; null when it is not.</summary>
    public string? EndOfLife(JoinMessage join)
    {
        if (ended.Find(join.Node) is not { } end)
        {
            return null;
        }

        if (members.FindById(join.Node.Id) is { } member && member.Key != join.Node)
        {
            return $"another incarnation of it ({member.Key}) is a member";
        }

        return !join.WasMember || end.Life.Ends(join.Origin) ? end.Reason : null;
    }

    /// <summary>
    /// The node that joins reports lives that earlier services have ended. Returns those that have joined here as they were, and that no
    /// configuration has admitted yet: they are to be removed again.
    /// </summary>
    public List<Member> OnReported(JoinMessage join)
    {
        var returned = new List<Member>();
        foreach (var over in join.Ended)
        {
            var member = members.FindById(over.Node.Id);
            if (member?.Key != over.Node)
            {
                ended.Learn(over);
            }
            else if (member.IsNew && member.WasMember && over.Ends(member.Info.Origin))
            {
                ended.Learn(over);
                returned.Add(member);
            }
        }

        return returned;
    }

    /// <summary>The node becomes a member. Returns its place in the order of joining: the one that it had, unless another has it.</summary>
    public long OnAdmitted(JoinMessage join)
    {
        ended.OnTakenBack(join.Node);
        bool keepsOrder = join.JoinOrder is > 0 and <= MostClaimedOrder
            && !members.Exists(other => other.Info.JoinOrder == join.JoinOrder);
        long order = keepsOrder ? join.JoinOrder : _nextJoinOrder;
        _nextJoinOrder = Math.Max(_nextJoinOrder, order + 1);
        return order;
    }

    /// <summary>The life of this member is over, for this reason; it has left, or was removed permanently.</summary>
    public void OnEnded(Member member, string reason, bool hasLeft) =>
        ended.Add(member.Key, reason, hasLeft || member.IsNew ? null : member.Info.Origin);

    /// <summary>A node has proved that this id is its own: another node with this id is refused from now on.</summary>
    public void OnProved(ulong id)
    {
        _proved ??= new Queue<ulong>();
        _proved.Enqueue(id);
        if (_proved.Count > MaxProved)
        {
            _proved.Dequeue();
        }
    }
}
