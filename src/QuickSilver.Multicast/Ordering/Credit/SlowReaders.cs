using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Ordering.Credit;

// Credit per topic, at the receiver. When readers on this node have no room for a topic, its sender gets a limit for this topic only.
// Messages already in flight still arrive, and are parked (ParkedMessages). After that, the limit follows what the readers take, in small
// steps (SlowRun), until the sender does not use what it is given. No credit is sent while readers keep up.
//
// Where packets are sealed, a credit is of the view by which this node gets the topics, and sealed under the key of that view.
//
// Soft state: the sender removes a limit that is not repeated (CreditLimits), so a lost packet costs time and never causes a stall.
internal sealed class SlowReaders(IOrderingNode node)
{
    private readonly List<SlowRun> _slow = [];
    private readonly NodeContext _context = node.Context;
    private Alarm? _repeat;
    private long _stamp;

    private TimeSpan Now => _context.Environment.Now;

    /// <summary>The runs for which readers on this node have no room.</summary>
    public IEnumerable<SlowRun> Blocked => _slow.Where(static slow => slow.IsBlocked);

    /// <summary>
    /// Adds the blocked runs to the list of waits. Their progress is that of the readers, whichever sender's messages they take.
    /// </summary>
    public void AddBlocked(List<Wait> waits, int most)
    {
        foreach (var slow in _slow)
        {
            if (slow.IsBlocked && waits.Count < most)
            {
                waits.Add(new Wait(slow, slow.Receiver.Taken));
            }
        }
    }

    /// <summary>Called when readers have no room for the sender's messages in the topic.</summary>
    public void OnBlocked(TopicReceiver topic, SenderOrder order) => Hold(topic, order);

    /// <summary>Called when messages of a view that is not installed yet wait for readers.</summary>
    public void OnAhead(TopicReceiver topic, SenderOrder order) => Hold(topic, order).IsAhead = true;

    /// <summary>Called when the view of these messages was installed.</summary>
    public void OnInstalled(SenderOrder order)
    {
        if (order.Slow is { IsHeld: true, IsAhead: true } slow)
        {
            slow.IsAhead = false;
            if (!order.IsBlocked)
            {
                Release(slow);
            }
        }
    }

    /// <summary>Called when the sink had room by itself, and was given what was parked, as far as it took it.</summary>
    public void OnRoom(SenderOrder order)
    {
        if (order.Slow is not { IsHeld: true } slow)
        {
            return;
        }

        slow.OnRoom(Now);
        if (slow.IsHeld)
        {
            Repeat();
        }
        else
        {
            Report(slow);
        }
    }

    /// <summary>Called when the subscription no longer takes the sender's messages.</summary>
    public void OnClosed(SenderOrder order)
    {
        if (order.Slow is { IsHeld: true } slow)
        {
            Release(slow);
        }
    }

    public void Close() => _context.Environment.CancelIfMade(_repeat);

    private SlowRun Hold(TopicReceiver topic, SenderOrder order)
    {
        _context.OnWait();
        var slow = order.Slow;
        if (slow is null)
        {
            // All that needs memory comes first.
            _context.Environment.Heap.Ask(HeapUse.SenderRun, 0);
            _repeat ??= new Alarm(OnRepeat);
            slow = new SlowRun(topic, order, _context.Options.ParkedBytesOfTopic);
            _slow.Add(slow);
            order.Slow = slow;
        }

        if (!slow.IsHeld)
        {
            slow.Hold(Now);
            slow.OnReported(Now);
            Send([slow], order.Sender, ViewOf(slow));
            Repeat();
        }

        return slow;
    }

    private void Release(SlowRun slow)
    {
        slow.Release(Now);
        Report(slow);
    }

    private void Report(SlowRun slow)
    {
        slow.Step(Now, mayPark: true);
        slow.OnReported(Now);
        Send([slow], slow.Order.Sender, ViewOf(slow));
        Repeat();
    }

    private void Repeat()
    {
        var next = TimeSpan.MaxValue;
        foreach (var slow in _slow)
        {
            next = slow.NextAt < next ? slow.NextAt : next;
        }

        if (_slow.Count > 0)
        {
            _context.Environment.Schedule(_repeat ??= new Alarm(OnRepeat), Later(next - Now));
        }
    }

    private RegionView? ViewOf(SlowRun slow) => _context.Options.IsSealed ? node.OwnViewOf(slow.Receiver.TopicId) : null;

    private static TimeSpan Later(TimeSpan delay) => delay > TimeSpan.Zero ? delay : TimeSpan.Zero;

    private void OnRepeat()
    {
        try
        {
            Step(Now);
        }
        catch (OutOfMemoryException)
        {
            _context.Shortage.OnRefused();
        }

        Repeat();
    }

    /// <summary>Offers all that waits, because there may be memory of the heap for it.</summary>
    public void OfferAll() => Offer(_slow);

    // Once for each subscription: that goes through all senders of the topic. The order is that of the runs.
    private static void Offer(List<SlowRun> runs) =>
        runs.Select(static slow => slow.Receiver).Distinct().ToList().ForEach(static receiver => receiver.Offer());

    private void Step(TimeSpan now)
    {
        var due = _slow.FindAll(slow => slow.NextAt <= now);
        Offer(due);
        var reported = due.FindAll(slow => slow.Step(now, node.Parking.HasPlenty(slow.Order.ParkedBytes)));
        reported.ForEach(slow => slow.OnReported(now));
        foreach (var several in reported.GroupBy(slow => (slow.Order.Sender, View: ViewOf(slow)))
            .OrderBy(static one => one.Key.Sender).ThenBy(static one => one.Key.View?.RegionId))
        {
            foreach (var some in several.Chunk(CreditPacket.MaxEntries))
            {
                Send(some, several.Key.Sender, several.Key.View);
            }
        }

        foreach (var over in _slow.Where(static slow => slow.IsOver))
        {
            over.Order.Slow = null;
        }

        _slow.RemoveAll(static slow => slow.IsOver);
    }

    private void Send(ReadOnlySpan<SlowRun> several, NodeKey sender, RegionView? view)
    {
        Span<(ulong, long)> entries = stackalloc (ulong, long)[CreditPacket.MaxEntries];
        for (int i = 0; i < several.Length; i++)
        {
            entries[i] = (several[i].Receiver.TopicId, several[i].Through);
        }

        Span<byte> packet = stackalloc byte[CreditPacket.MaxBytes];
        var template = view is null ? _context.Template() : _context.Template(view);
        int bytes = CreditPacket.Write(packet, template, ++_stamp, entries[..several.Length]);
        if (sender == _context.Self)
        {
            node.CreditLimits.OnPacket(new PacketHeader(packet[..bytes]), sender);
        }
        else if (_context.Directory.Find(sender) is { } to)
        {
            _context.SendControl(packet[..bytes], to);
        }
    }
}
