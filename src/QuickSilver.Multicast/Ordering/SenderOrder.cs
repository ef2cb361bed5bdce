using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Ordering;

// A message that waits for an earlier one, or for room above; its bytes stay in the packet that its stream keeps.
internal readonly struct HeldMessage(InboundStream stream, long packet, in DeliveredMessage message, Assembly? assembly)
{
    public InboundStream Stream { get; } = stream;
    public long Packet { get; } = packet;
    public DeliveredMessage Message { get; } = message;

    public void Release()
    {
        assembly?.Release();
        Stream.Unhold(Packet);
    }
}

// One sender's run in one topic at one subscriber. Next is 0 until it is known where the run begins.
internal sealed class SenderOrder(NodeKey sender)
{
    private readonly Dictionary<long, HeldMessage> _held = [];

    public NodeKey Sender { get; } = sender;
    public long Next { get; set; }
    // Since when the sender and this node are together, as it was when the run began, and the number with which it began:
    // what comes in the streams of that time is whole from there on.
    public long BegunAt { get; set; }
    public long RunStart { get; set; }
    // A loss that was found while the sink had no room, and is told when it has.
    public InboundStream? Torn { get; set; }
    // The sink said no; nothing is offered until it resumes.
    public bool IsBlocked { get; set; }
    // Beside what each message looks at, as the table is not.
    public int HeldCount { get; private set; }

    public bool Hold(InboundStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        if (_held.ContainsKey(sequence))
        {
            return false;
        }

        if (message.Assembly is not null)
        {
            message.Assembly.IsKept = true;
        }

        stream.Hold(message.EndPacket);
        _held.Add(sequence, new HeldMessage(stream, message.EndPacket, message.Delivered, message.Assembly));
        HeldCount++;
        return true;
    }

    public bool TryPeekHeld(long sequence, out HeldMessage held) => _held.TryGetValue(sequence, out held);

    public void RemoveHeld(long sequence)
    {
        if (_held.Remove(sequence, out var held))
        {
            HeldCount--;
            held.Release();
        }
    }

    public bool TryFirstHeld(out long first)
    {
        first = long.MaxValue;
        foreach (long sequence in _held.Keys)
        {
            first = Math.Min(first, sequence);
        }

        return _held.Count > 0;
    }

    public void DropBefore(long sequence)
    {
        if (_held.Count == 0)
        {
            return;
        }

        var old = new List<long>();
        foreach (long held in _held.Keys)
        {
            if (held < sequence)
            {
                old.Add(held);
            }
        }

        old.Sort();
        foreach (long held in old)
        {
            RemoveHeld(held);
        }
    }

    public void DropAll() => DropBefore(long.MaxValue);
}

// Where the runs of senders ended that are gone. One that comes back from another cluster is the same sender with the same
// numbers: without this note what it sent meanwhile would be missed in silence. The oldest are forgotten: a cluster that has
// lost so many nodes since does not get that one back.
internal sealed class SendersAside
{
    private const int Most = 1024;

    private readonly Dictionary<NodeKey, SenderOrder> _orders = [];
    private readonly Queue<SenderOrder> _byAge = new();

    public void Add(SenderOrder order)
    {
        if (order.Next == 0)
        {
            return;
        }

        _orders[order.Sender] = order;
        _byAge.Enqueue(order);
        while (_byAge.Count > Most)
        {
            var oldest = _byAge.Dequeue();
            if (_orders.GetValueOrDefault(oldest.Sender) == oldest)
            {
                _orders.Remove(oldest.Sender);
            }
        }
    }

    public SenderOrder? Take(NodeKey sender) => _orders.Remove(sender, out var order) ? order : null;
}
