using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Takeover;

// The nodes that come back, and from where: from another service, or from a silence for which this service removed them. Nodes that were
// lost together are awaited together, so that one configuration admits them and they continue with each other.
internal sealed class Returns(ulong life, ConfigurationNumbers numbers, Gathering gathering, TimeSpan grace)
{
    private const int MostAbsent = 16_384;

    private readonly Dictionary<NodeKey, Loss> _absent = [];
    private readonly Queue<NodeKey> _order = new();
    private Loss? _last;
    private ulong _losses;

    // Nodes whose silence began together, as when a network is torn.
    private sealed class Loss(ulong id)
    {
        public readonly ulong Id = id;
        public TimeSpan At;
        public int Nodes;
    }

    /// <summary>The node was silent and is removed. It may return without a restart.</summary>
    public void OnLost(NodeKey node, TimeSpan now)
    {
        var loss = _last is { } last && now - last.At <= grace ? last : new Loss(++_losses);
        _last = loss;
        loss.At = now;
        if (_absent.TryAdd(node, loss))
        {
            loss.Nodes++;
            _order.Enqueue(node);
        }

        if (_order.Count > MostAbsent && _absent.Remove(_order.Dequeue(), out var forgotten))
        {
            forgotten.Nodes--;
        }
    }

    /// <summary>A node that was a member before is admitted. True when others that belong to it are waited for from now on.</summary>
    public bool OnAdmitted(JoinMessage join, TimeSpan now)
    {
        bool wasAbsent = _absent.Remove(join.Node, out var loss);
        if (join.Service != life)
        {
            numbers.MustExceed(join.Known);
            return gathering.OnReturned(join.Origin, join.KnownNodes, now);
        }

        return wasAbsent && gathering.OnReturned(new Origin(life + loss!.Id, join.Known), loss.Nodes, now);
    }
}
