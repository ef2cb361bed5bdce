using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stalls;

namespace QuickSilver.Multicast.Ordering.Credit;

// Credit per topic, at the receiver. When readers on this node have no room for a topic, the sender is told to stop sending this topic
// only. Messages already in flight still arrive. When the readers have room again, the sender is told to continue.
//
// Where packets are sealed, a credit is of the view by which this node gets the topics, and sealed under the key of that view.
//
// Soft state: the sender removes a limit that is not repeated (CreditLimits), so a lost packet costs time and never causes a stall.
// Messages that arrive meanwhile are parked (ParkedMessages).
internal sealed class SlowReaders(IOrderingNode node)
{
    // A sender removes a limit after several of these intervals without a repetition.
    private static readonly TimeSpan HoldInterval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan ReleaseInterval = TimeSpan.FromMilliseconds(20);
    private const int Releases = 3;

    private readonly List<Slow> _slow = [];
    private readonly MulticastContext _context = node.Context;
    private Alarm? _repeat;
    private long _stamp;

    /// <summary>The runs for which readers on this node have no room.</summary>
    public IEnumerable<Slow> Blocked => _slow.Where(static slow => slow.IsHeld);

    /// <summary>Adds the blocked runs to the list of waits.</summary>
    public void AddBlocked(List<Wait> waits, int most)
    {
        foreach (var slow in _slow)
        {
            if (slow.IsHeld && waits.Count < most)
            {
                waits.Add(new Wait(slow, slow.Order.Taken));
            }
        }
    }

    /// <summary>Called when readers have no room for the sender's messages in the topic.</summary>
    public void OnBlocked(TopicReceiver topic, SenderOrder order)
    {
        _context.OnWait();
        var slow = order.Slow;
        if (slow is null)
        {
            order.Slow = slow = new Slow(topic, order);
            _slow.Add(slow);
        }
        else if (slow.IsHeld)
        {
            return;
        }

        slow.IsHeld = true;
        Tell(slow);
    }

    /// <summary>Called when there is room again, or the subscription no longer takes the sender's messages.</summary>
    public void OnUnblocked(SenderOrder order)
    {
        if (order.Slow is { IsHeld: true } slow)
        {
            slow.IsHeld = false;
            slow.ReleasesLeft = Releases;
            Tell(slow);
        }
    }

    public void Close() => _context.Environment.CancelIfMade(_repeat);

    private void Tell(Slow slow)
    {
        slow.OnTold(_context.Environment.Now);
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
            _context.Environment.Schedule(_repeat ??= new Alarm(OnRepeat), Later(next - _context.Environment.Now));
        }
    }

    private RegionView? ViewOf(Slow slow) => _context.Options.IsSealed ? node.OwnViewOf(slow.Topic) : null;

    private static TimeSpan Later(TimeSpan delay) => delay > TimeSpan.Zero ? delay : TimeSpan.Zero;

    private void OnRepeat()
    {
        var now = _context.Environment.Now;
        var due = _slow.FindAll(slow => slow.NextAt <= now);
        due.ForEach(slow => slow.OnTold(now));
        foreach (var several in due.GroupBy(slow => (slow.Order.Sender, View: ViewOf(slow)))
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
        Repeat();
    }

    private void Send(ReadOnlySpan<Slow> several, NodeKey sender, RegionView? view)
    {
        Span<(ulong, long)> entries = stackalloc (ulong, long)[CreditPacket.MaxEntries];
        for (int i = 0; i < several.Length; i++)
        {
            entries[i] = (several[i].Topic, several[i].IsHeld ? several[i].Order.Next - 1 : CreditPacket.Unlimited);
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

    // One sender's run in one topic, from when readers have no room for it until the sender was told often enough that there is room.
    internal sealed class Slow(TopicReceiver topic, SenderOrder order)
    {
        public ulong Topic { get; } = topic.TopicId;
        public string Label => topic.Label;
        public SenderOrder Order { get; } = order;
        // Readers have no room.
        public bool IsHeld { get; set; }
        // How many more times the sender is told that there is room again.
        public int ReleasesLeft { get; set; }
        public TimeSpan NextAt { get; private set; }
        public bool IsOver => !IsHeld && ReleasesLeft <= 0;

        public void OnTold(TimeSpan now)
        {
            ReleasesLeft--;
            NextAt = now + (IsHeld ? HoldInterval : ReleaseInterval);
        }
    }
}
