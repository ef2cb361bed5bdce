using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// A message that waits for an earlier one, or for room in the sink. Its bytes stay in the packet, which its stream keeps. In a best-effort
// topic no packet is kept, so the bytes are in memory of their own.
internal readonly struct HeldMessage(ConsumedStream stream, long packet, in DeliveredMessage message, Assembly? assembly)
{
    public ConsumedStream Stream { get; } = stream;
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

// How far parked messages were delivered: all, as many as was asked for, or as many as the sink had room for.
internal enum HandUp
{
    All,
    Some,
    Refused,
}

// One sender's run in one topic at one subscription. Next is 0 until the beginning of the run is known.
internal sealed class SenderOrder(NodeKey sender, IDeliverySink sink)
{
    // A separate object, so that a message that arrives in order touches little memory.
    private readonly Waiting _waiting = new();
    private IDirectSink? _direct;
    // The run in SlowReaders counts the bytes of each message.
    private bool _isSlow;

    public NodeKey Sender { get; } = sender;
    public long Next { get; private set; }
    public int HeldCount { get; private set; }
    // The sink has refused a message; no message is offered until it resumes.
    public bool IsBlocked { get; set; }
    // The subscription is closed, or the sender was moved to DepartedSenders: no message is delivered any more.
    public bool IsOver { get; set; }

    // There was no memory of the heap to pass on a message, or to park it: that is tried again after a pause (HeapShortage).
    public bool IsStarved { get; set; }

    // It is not known yet who the sender is, and whether it may publish: all messages are held.
    public bool IsUnproven { get; set; }

    /// <summary>
    /// Whether the run has begun in the period since which the sender and this node have been together (0: that configuration is not known
    /// yet).
    /// </summary>
    public bool HasBegun(long since) => Next != 0 && (_waiting.BegunAt == since || (since == 0 && _waiting.BegunAt < 0));

    /// <summary>Begins a run, which the sender sent under this configuration.</summary>
    public void Begin(long since, long configuration) => _waiting.BegunAt = since != 0 ? since : -configuration;

    /// <summary>The next messages are of another run, even if the two have been together all the time.</summary>
    public void EndRun() => _waiting.BegunAt = long.MaxValue;

    /// <summary>
    /// The sender may have sent before this node knew it. In that case the two were together no later than the run began.
    /// </summary>
    public void OnKnown(long since)
    {
        if (since != 0 && since <= -_waiting.BegunAt)
        {
            _waiting.BegunAt = since;
        }
    }

    /// <summary>
    /// The configuration under which the run was sent, while it is not known since when the two have been together; 0 otherwise.
    /// </summary>
    public long BegunUnder => Math.Max(-_waiting.BegunAt, 0);

    // The number with which the run began. The streams of that period contain all messages from this number on.
    public long RunStart
    {
        get => _waiting.RunStart;
        set => _waiting.RunStart = value;
    }

    // The record in SlowReaders. It exists from when the sink has no room until the sender was notified often enough that it has no limit.
    public SlowRun? Slow
    {
        get => _waiting.Slow;
        set
        {
            _waiting.Slow = value;
            _isSlow = value is not null;
        }
    }

    /// <summary>The last number that the sink accepted.</summary>
    public long Taken => Next - 1 - ParkedCount;

    /// <summary>The messages that are parked.</summary>
    public int ParkedCount => _waiting.Parked?.Count ?? 0;

    /// <summary>The memory of the messages that are parked.</summary>
    public long ParkedBytes => _waiting.Parked?.Bytes ?? 0;

    /// <summary>How many messages the sink has accepted: neither those that were lost, nor those before the run began.</summary>
    public long TakenCount => Next == 0 ? 0 : Taken - _waiting.Skipped;

    // The record for the watch on what waits. It exists once messages have waited for an earlier one for a while.
    public AwaitedMessage? Awaited
    {
        get => _waiting.Awaited;
        set => _waiting.Awaited = value;
    }

    // The stream of a loss that was found while the sink had no room. The loss is reported when the sink has room.
    public ConsumedStream? PendingLoss
    {
        get => _waiting.PendingLoss;
        set => _waiting.PendingLoss = value;
    }

    /// <summary>In a best-effort topic, the highest number that is known to have been sent.</summary>
    public long SentThrough => _waiting.Loss?.SentThrough ?? 0;

    /// <summary>Whether a time is set at which the messages that are still missing are reported as lost.</summary>
    public bool IsLossNoted
    {
        get => _waiting.Loss is { IsNoted: true };
        set => (_waiting.Loss ??= new Loss()).IsNoted = value;
    }

    /// <summary>Whether a message that was sent is neither delivered nor reported as lost.</summary>
    public bool IsAwaiting => HeldCount > 0 || SentThrough >= Next;

    /// <summary>The fast path: the message is the next, and nothing waits before it. False: the message takes the slow path.</summary>
    public bool TryTake(in DeliveredMessage message, MulticastCounters counters)
    {
        if (Next != message.Sequence || HeldCount > 0 || IsBlocked || IsOver || _isSlow || !TryHandUp(message, counters))
        {
            return false;
        }

        Next++;
        return true;
    }

    /// <summary>The sink has accepted the next message, or it is parked.</summary>
    public void Advance() => Next++;

    /// <summary>Begins or continues with this number. Messages that are left out never reach the sink.</summary>
    public void SkipTo(long next)
    {
        _waiting.Skipped += Math.Max(next, 1) - Math.Max(Next, 1);
        Next = next;
    }

    /// <summary>Reads the data that <see cref="TryTake"/> will read, to bring it into the cache, and has no other effect.</summary>
    public int Touch() => (int)Next + (_direct?.Touch() ?? 0);

    /// <summary>
    /// Passes the message to the sink. False: the sink has no room, or no memory. Any other exception of the sink is counted and not
    /// propagated; the message then counts as taken.
    /// </summary>
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
        catch (OutOfMemoryException)
        {
            IsStarved = true;
            return false;
        }
        catch (Exception)
        {
            counters.SinkExceptions++;
        }

        return true;
    }

    /// <summary>Copies the message, which is the next, out of its packet to wait. False: the limits leave no memory for it.</summary>
    public bool TryPark(in DeliveredMessage message, ParkingBudget budget) =>
        (_waiting.Parked ??= new ParkedMessages(budget)).TryAdd(message);

    /// <summary>Delivers parked messages, at most so many.</summary>
    public HandUp HandUpParked(ulong topicId, int most, MulticastCounters counters)
    {
        if (_waiting.Parked is not { Count: > 0 } parked)
        {
            return HandUp.All;
        }

        var message = new DeliveredMessage(Sender);
        for (; parked.Count > 0; most--)
        {
            if (most == 0)
            {
                return HandUp.Some;
            }

            parked.Peek(ref message, topicId, Next - parked.Count);
            if (!TryHandUp(message, counters))
            {
                return HandUp.Refused;
            }

            parked.Remove();
        }

        return HandUp.All;
    }

    public bool Hold(ConsumedStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        var held = _waiting.Held ??= [];
        if (held.ContainsKey(sequence))
        {
            return false;
        }

        // First of all, because the table may need memory that is refused.
        stream.Heap.Ask(HeapUse.HeldMessage, Unsafe.SizeOf<HeldMessage>());
        held.Add(sequence, new HeldMessage(stream, message.EndPacket, message.Delivered, message.Assembly));
        HeldCount++;
        stream.Hold(message.EndPacket);
        if (message.Assembly is not null)
        {
            message.Assembly.IsKept = true;
        }

        return true;
    }

    public bool Holds(long sequence) => HeldCount > 0 && _waiting.Held!.ContainsKey(sequence);

    /// <summary>Holds a copy of a message of a best-effort topic that is not held yet. False: there is no memory for it.</summary>
    public bool TryHoldCopy(ConsumedStream stream, in StreamMessage message, ReassemblyBudget budget)
    {
        var copy = message.Delivered;
        int bytes = copy.Length;
        if (message.Assembly is null && !budget.TryTakeForCopy(bytes))
        {
            return false;
        }

        var assembly = message.Assembly;
        try
        {
            if (assembly is null)
            {
                assembly = budget.Rent();
                assembly.Begin(ReassemblyShare.Copies, copy.TopicId, copy.Sequence, copy.ExtensionBytes, bytes);
                assembly.Append(copy.WithExtensions);
                assembly.Deliver(ref copy);
            }

            (_waiting.Held ??= []).Add(copy.Sequence, new HeldMessage(stream, message.EndPacket, copy, assembly));
        }
        catch (OutOfMemoryException)
        {
            if (message.Assembly is null)
            {
                budget.ReturnBytes(ReassemblyShare.Copies, bytes);
            }

            return false;
        }

        assembly.IsKept = true;
        HeldCount++;
        return true;
    }

    /// <summary>In a best-effort topic: records that all messages up to this number were sent.</summary>
    public void NoteSent(long number)
    {
        var loss = _waiting.Loss ??= new Loss();
        loss.SentThrough = Math.Max(loss.SentThrough, number);
    }

    /// <summary>Copies the numbers of the held messages up to a number, in order.</summary>
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

    /// <summary>
    /// The messages that have come and that the sink has not taken, from the first to the last. Between those that wait for an earlier one
    /// may be some that have not come.
    /// </summary>
    public bool TryGetUntaken(out long first, out long last)
    {
        // The run of a sender of which nothing was handed up begins with the first message that is here.
        first = Next == 0 && TryFirstHeld(out long held) ? held : Taken + 1;
        last = Next - 1;
        foreach (long sequence in HeldCount == 0 ? [] : (IEnumerable<long>)_waiting.Held!.Keys)
        {
            last = Math.Max(last, sequence);
        }

        return last >= first;
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
        // The configuration since which the sender and this node were together when the run began. If that is not known yet: the
        // configuration under which the sender sent, negated.
        public long BegunAt;
        public long RunStart;
        // The numbers below Next that the sink never gets.
        public long Skipped;
        public ConsumedStream? PendingLoss;
        public SlowRun? Slow;
        public AwaitedMessage? Awaited;
        public ParkedMessages? Parked;

        // Null until a message waits.
        public Dictionary<long, HeldMessage>? Held;

        // Null until a message of a best-effort topic is lost or a mark arrives.
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

    /// <summary>How many messages the sink has accepted of them, those of removed records included.</summary>
    public long TakenCount { get; private set; }

    public void Add(SenderOrder order)
    {
        TakenCount += order.TakenCount;
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

    public SenderOrder? Find(NodeKey sender) => _orders.GetValueOrDefault(sender);

    public SenderOrder? Take(NodeKey sender)
    {
        if (_orders.Remove(sender, out var order))
        {
            TakenCount -= order.TakenCount;
        }

        return order;
    }
}
