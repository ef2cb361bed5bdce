using System.Buffers;

namespace QuickSilver.Groups.Tools.Replicas;

// An operation that has been applied and keeps a place in the state, by its id: the first in a line holds a lock, or an arrival waits at a
// barrier.
internal readonly record struct Ticket(NodeId Node, long Number)
{
    public const int Bytes = SpanWriter.NodeBytes + sizeof(long);
}

// Tickets in the order of the group.
internal sealed class TicketLine
{
    private readonly List<Ticket> _tickets = [];

    public int Count => _tickets.Count;

    public Ticket this[int place] => _tickets[place];

    public void Add(NodeId node, long number) => _tickets.Add(new Ticket(node, number));

    public bool Contains(NodeId node) => _tickets.Exists(one => one.Node == node);

    public bool Remove(NodeId node, long number) => _tickets.Remove(new Ticket(node, number));

    public void RemoveThrough(NodeId node, long number) => _tickets.RemoveAll(one => one.Node == node && one.Number <= number);

    public void RemoveOf(HashSet<NodeId> nodes) => _tickets.RemoveAll(one => nodes.Contains(one.Node));

    public void Clear() => _tickets.Clear();

    public void Write(IBufferWriter<byte> to)
    {
        to.Write(_tickets.Count);
        foreach (var (node, number) in _tickets)
        {
            to.Write(node);
            to.Write(number);
        }
    }

    /// <summary>Replaces the tickets. False: they are malformed, or of nodes that cannot have any.</summary>
    public bool TryRead(ref FieldReader from, Predicate<NodeId> isMember)
    {
        _tickets.Clear();
        var seen = new HashSet<Ticket>();
        for (int left = from.ReadCount(Ticket.Bytes); left > 0; left--)
        {
            var ticket = new Ticket(from.ReadNode(), from.ReadNumber());
            if (ticket.Number == 0 || !isMember(ticket.Node) || !seen.Add(ticket))
            {
                return false;
            }

            _tickets.Add(ticket);
        }

        return true;
    }
}
