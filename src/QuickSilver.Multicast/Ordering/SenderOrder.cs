using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// A message that waits for an earlier one, or for room above; its bytes stay in the packet that its stream keeps, but those of a
// best-effort topic, for which no packet waits, in memory of its own.
internal readonly struct HeldMessage(InboundStream stream, long packet, in DeliveredMessage message, Assembly? assembly)
{
    public InboundStream Stream { get; } = stream;
    public long Packet { get; } = packet;
    public DeliveredMessage Message { get; } = message;

    public void Release()
    {
        assembly?.Release();
        if (Stream.IsReliable)
        {
            Stream.Unhold(Packet);
        }
    }
}

// One sender's run in one topic at one subscriber. Next is 0 until it is known where the run begins.
internal sealed class SenderOrder(NodeKey sender, IDeliverySink sink)
{
    // Apart, so that what a message in its turn looks at is small.
    private readonly Waiting _waiting = new();
    private IDirectSink? _direct;

    public NodeKey Sender { get; } = sender;
    public long Next { get; set; }
    public int HeldCount { get; private set; }
    // The sink said no; nothing is offered until it resumes.
    public bool IsBlocked { get; set; }
    // The subscription is closed, or the sender put aside: nothing is handed up any more.
    public bool IsOver { get; set; }

    /// <summary>Whether the run has begun in the time since which the sender and this node are together. 0: it is not known yet.</summary>
    public bool HasBegun(long since) => Next != 0 && (_waiting.BegunAt == since || (since == 0 && _waiting.BegunAt < 0));

    /// <summary>A run begins, which the sender sent under this configuration.</summary>
    public void Begin(long since, long configuration) => _waiting.BegunAt = since != 0 ? since : -configuration;

    /// <summary>The sender may have sent before this node knew of it: then it came no later than it began.</summary>
    public void OnKnown(long since)
    {
        if (since != 0 && since <= -_waiting.BegunAt)
        {
            _waiting.BegunAt = since;
        }
    }

    // The number with which the run began: what comes in the streams of that time is whole from there on.
    public long RunStart
    {
        get => _waiting.RunStart;
        set => _waiting.RunStart = value;
    }

    // While the sink has no room, and until the sender was told of room again: what of it waits in the meantime.
    public SlowReaders.Slow? Slow
    {
        get => _waiting.Slow;
        set => _waiting.Slow = value;
    }

    /// <summary>The last number that those above took.</summary>
    public long Taken => Next - 1 - (_waiting.Parked?.Count ?? 0);

    // The stream of a loss that was found while the sink had no room; it is reported when the sink has room.
    public InboundStream? PendingLoss
    {
        get => _waiting.PendingLoss;
        set => _waiting.PendingLoss = value;
    }

    /// <summary>In a best-effort topic, the highest number that is known to have been sent.</summary>
    public long SentThrough => _waiting.Loss?.SentThrough ?? 0;

    /// <summary>A time is set at which what is missing by then is told.</summary>
    public bool IsLossNoted
    {
        get => _waiting.Loss is { IsNoted: true };
        set => (_waiting.Loss ??= new Loss()).IsNoted = value;
    }

    /// <summary>Something that was sent is neither handed up nor told.</summary>
    public bool IsAwaiting => HeldCount > 0 || SentThrough >= Next;

    /// <summary>The common case: the message is the next, and nothing waits before it. False: the long way.</summary>
    public bool TryTake(in DeliveredMessage message, MulticastCounters counters)
    {
        if (Next != message.Sequence || HeldCount > 0 || IsBlocked || IsOver || !TryHandUp(message, counters))
        {
            return false;
        }

        Next++;
        return true;
    }

    /// <summary>Reads what <see cref="TryTake"/> will, and does nothing.</summary>
    public int Touch() => (int)Next + (_direct?.Touch() ?? 0);

    /// <summary>False: no room above. An exception from there never passes below: the message counts as taken.</summary>
    public bool TryHandUp(in DeliveredMessage message, MulticastCounters counters)
    {
        try
        {
            if (_direct is null || !_direct.TryTake(message))
            {
                if (!sink.TryAccept(message))
                {
                    return false;
                }

                _direct = sink.Direct;
            }

            counters.MessagesDelivered++;
        }
        catch (Exception)
        {
            counters.SinkExceptions++;
        }

        return true;
    }

    /// <summary>The message is the next, and is copied to wait outside its packet. False: there is no place for it.</summary>
    public bool TryPark(in DeliveredMessage message, ParkingBudget budget) =>
        (_waiting.Parked ??= new ParkedMessages(budget)).TryAdd(message);

    /// <summary>Hands up what was parked; false when some of it is left, as there is no room for it yet.</summary>
    public bool TryHandUpParked(ulong topicId, MulticastCounters counters)
    {
        if (_waiting.Parked is not { } parked)
        {
            return true;
        }

        var message = new DeliveredMessage(Sender);
        while (parked.Count > 0)
        {
            parked.Peek(ref message, topicId, Next - parked.Count);
            if (!TryHandUp(message, counters))
            {
                return false;
            }

            parked.Remove();
        }

        return true;
    }

    public bool Hold(InboundStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        var held = _waiting.Held ??= [];
        if (held.ContainsKey(sequence))
        {
            return false;
        }

        if (message.Assembly is not null)
        {
            message.Assembly.IsKept = true;
        }

        stream.Hold(message.EndPacket);
        held.Add(sequence, new HeldMessage(stream, message.EndPacket, message.Delivered, message.Assembly));
        HeldCount++;
        return true;
    }

    public bool Holds(long sequence) => HeldCount > 0 && _waiting.Held!.ContainsKey(sequence);

    /// <summary>Of a best-effort topic; it is not held yet. False: there is no memory for it.</summary>
    public bool TryHoldCopy(InboundStream stream, in StreamMessage message, ReassemblyBudget budget)
    {
        var copy = message.Delivered;
        var assembly = message.Assembly;
        if (assembly is null)
        {
            if (!budget.TryTakeForCopy(copy.Length))
            {
                return false;
            }

            assembly = budget.Rent();
            assembly.Begin(ReassemblyShare.Copies, copy.TopicId, copy.Sequence, copy.ExtensionBytes, copy.Length);
            assembly.Append(copy.WithExtensions);
            assembly.Deliver(ref copy);
        }

        assembly.IsKept = true;
        (_waiting.Held ??= []).Add(copy.Sequence, new HeldMessage(stream, message.EndPacket, copy, assembly));
        HeldCount++;
        return true;
    }

    /// <summary>In a best-effort topic: all up to this number was sent.</summary>
    public void NoteSent(long number)
    {
        var loss = _waiting.Loss ??= new Loss();
        loss.SentThrough = Math.Max(loss.SentThrough, number);
    }

    /// <summary>The held ones up to a number, in order.</summary>
    public void CopyHeld(long through, List<long> into)
    {
        into.Clear();
        if (HeldCount == 0)
        {
            return;
        }

        foreach (long sequence in _waiting.Held!.Keys)
        {
            if (sequence <= through)
            {
                into.Add(sequence);
            }
        }

        into.Sort();
    }

    public bool TryPeekHeld(long sequence, out HeldMessage held)
    {
        held = default;
        return HeldCount > 0 && _waiting.Held!.TryGetValue(sequence, out held);
    }

    public void RemoveHeld(long sequence)
    {
        if (HeldCount > 0 && _waiting.Held!.Remove(sequence, out var held))
        {
            HeldCount--;
            held.Release();
        }
    }

    public bool TryFirstHeld(out long first)
    {
        first = long.MaxValue;
        if (HeldCount == 0)
        {
            return false;
        }

        foreach (long sequence in _waiting.Held!.Keys)
        {
            first = Math.Min(first, sequence);
        }

        return true;
    }

    public void DropBefore(long sequence)
    {
        if (HeldCount == 0)
        {
            return;
        }

        var old = new List<long>();
        foreach (long held in _waiting.Held!.Keys)
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

    public void DropAll()
    {
        DropBefore(long.MaxValue);
        _waiting.Parked?.Clear();
    }

    private sealed class Waiting
    {
        // Since when the sender and this node were together as the run began; or, of a sender that was not known yet, the configuration
        // under which it sent, below 0.
        public long BegunAt;
        public long RunStart;
        public InboundStream? PendingLoss;
        public SlowReaders.Slow? Slow;
        public ParkedMessages? Parked;

        // From the first message on that waits.
        public Dictionary<long, HeldMessage>? Held;

        // In a best-effort topic, from the first loss on.
        public Loss? Loss;
    }

    private sealed class Loss
    {
        public long SentThrough;
        public bool IsNoted;
    }
}

// Where the runs of departed senders ended. A sender that comes back from another cluster is the same sender and continues its numbers:
// without this record, what it sent meanwhile would be missed without a gap notice. The oldest records are removed, because a cluster that
// has lost so many nodes since then does not get that sender back.
internal sealed class DepartedSenders
{
    public const int Most = 1024;

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
