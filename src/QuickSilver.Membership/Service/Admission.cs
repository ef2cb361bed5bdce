using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// Who may join, and which lives are over. A life that ended is told so when it comes back, instead of being taken for new
// (I10); the oldest of these are forgotten.
internal sealed class Admission(string cluster, ConfigurationNumbers numbers, Dictionary<ulong, Member> membersById)
{
    private const int MaxBarred = 16_384;

    private readonly HashSet<NodeKey> _barred = [];
    private readonly Queue<NodeKey> _order = new();

    /// <summary>Null when the node fits this service; otherwise a sentence.</summary>
    public string? Refuse(JoinMessage join)
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

        return numbers.IsPlausible(join.Known)
            ? null
            : $"The node claims configuration {join.Known}, which no service can have made yet.";
    }

    /// <summary>Why this life is over; null when it is not.</summary>
    public string? EndOfLife(NodeKey node)
    {
        if (_barred.Contains(node))
        {
            return "it was removed from the views";
        }

        return membersById.TryGetValue(node.Id, out var member) && member.Key.Incarnation > node.Incarnation
            ? $"a newer incarnation of it ({member.Key}) is a member"
            : null;
    }

    /// <summary>This life is over.</summary>
    public void Bar(NodeKey node)
    {
        if (!_barred.Add(node))
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
