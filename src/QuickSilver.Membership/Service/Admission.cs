using System.Net;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Lines;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// Who may join, and which lives are over. A life that ended is told so when it comes back, instead of being taken for new
// (I10); the oldest of these are forgotten. One that has meanwhile lived on under another service is not over: it was on
// the other side of a torn network. Which of two lives of a node is the newer is not read off their incarnations, which come
// from a clock: the one that joins last is.
internal sealed class Admission(
    string cluster, ConfigurationNumbers numbers, Dictionary<ulong, Member> membersById, ulong life, Func<IPAddress?> listensOn)
{
    private const int MaxBarred = 16_384;
    private const int MaxProved = 256;

    // With the reason.
    private readonly Dictionary<NodeKey, string> _barred = [];
    private readonly Queue<NodeKey> _order = new();
    // Ids that somebody else had before their owner proved them; null until there is one.
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
            return $"The key {join.Node} is that of another node. Start this node anew.";
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

    // Whoever is at a loopback address is reached by its own machine only.
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

        foreach (var member in membersById.Values)
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
        if (!_barred.TryGetValue(join.Node, out string? why))
        {
            return null;
        }

        if (membersById.TryGetValue(join.Node.Id, out var member) && member.Key != join.Node)
        {
            return $"another incarnation of it ({member.Key}) is a member";
        }

        return join.WasMember && join.Service != life ? null : why;
    }

    /// <summary>A node has shown that this id is its own: nobody else is taken for it any more.</summary>
    public void OnProved(ulong id)
    {
        _proved ??= new Queue<ulong>();
        _proved.Enqueue(id);
        if (_proved.Count > MaxProved)
        {
            _proved.Dequeue();
        }
    }

    /// <summary>This life is over.</summary>
    public void Bar(NodeKey node, string reason)
    {
        if (!_barred.TryAdd(node, reason))
        {
            return;
        }

        _order.Enqueue(node);
        if (_order.Count > MaxBarred)
        {
            _barred.Remove(_order.Dequeue());
        }
    }
}
