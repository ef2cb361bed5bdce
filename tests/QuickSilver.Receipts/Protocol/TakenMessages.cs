using QuickSilver.Membership.Views;

namespace QuickSilver.Receipts.Protocol;

// What a subscription has taken of each sender, and which receipts are due. By calls, without input or output.
internal sealed class TakenMessages(int every)
{
    private readonly Dictionary<NodeKey, (long Through, long Sent)> _senders = [];
    // Their receipts could not be sent, or were not delivered.
    private readonly HashSet<NodeKey> _due = [];

    /// <summary>The senders whose receipts are due.</summary>
    public IReadOnlyCollection<NodeKey> Due => _due;

    /// <summary>A message was taken, or will never come. Returns whether a receipt is due.</summary>
    public bool OnTaken(NodeKey sender, long number)
    {
        var (_, sent) = _senders.GetValueOrDefault(sender);
        _senders[sender] = (number, sent);
        if (number - sent >= every)
        {
            _due.Add(sender);
        }

        return _due.Contains(sender);
    }

    /// <summary>The sender asks for a receipt.</summary>
    public void OnAsked(NodeKey sender)
    {
        if (_senders.ContainsKey(sender))
        {
            _due.Add(sender);
        }
    }

    /// <summary>The number that a receipt states now.</summary>
    public long ThroughOf(NodeKey sender) => _senders.GetValueOrDefault(sender).Through;

    public void OnSent(NodeKey sender)
    {
        long through = ThroughOf(sender);
        _senders[sender] = (through, through);
        _due.Remove(sender);
    }

    public void Forget(NodeKey sender)
    {
        _senders.Remove(sender);
        _due.Remove(sender);
    }

    public NodeKey[] Senders() => [.. _senders.Keys.Order()];
}
