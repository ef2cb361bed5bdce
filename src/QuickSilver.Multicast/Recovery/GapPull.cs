using QuickSilver.Core.Alarms;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Recovery;

// Asks for what one stream misses, at once and by itself; the ring guarantees what this does not get.
//
// Intuition: a loss is usually one member's alone, so a random member has it. Application: a gap older than the reordering
// window is asked of one random peer by ranges, then of another, then of the sender, at doubling intervals with jitter
// (suppression: one question is open at a time per stream). What goes wrong: a sender that is gone cannot be asked, and a
// best-effort stream asks nobody: its gaps are given up after a longer wait.
internal sealed class GapPull
{
    private const int PeerAttempts = 2;
    private const int BestEffortPatience = 10;

    private readonly MulticastContext _context;
    private readonly RegionReceiver _region;
    private readonly InboundStream _stream;
    private readonly Alarm _alarm;
    private long _through;
    private long _contiguousAtAsk;
    private int _attempt;

    public GapPull(MulticastContext context, RegionReceiver region, InboundStream stream)
    {
        _context = context;
        _region = region;
        _stream = stream;
        _alarm = new Alarm(Ask);
    }

    /// <summary>The pull has failed often enough that the ring's neighbours should push.</summary>
    public bool IsStubborn => _attempt > PeerAttempts;

    public void OnGap()
    {
        if (!_alarm.IsPending)
        {
            _through = _stream.Highest;
            _attempt = 0;
            var wait = _context.Options.ReorderWindow;
            _context.Environment.Schedule(_alarm, _stream.IsReliable ? wait : wait * BestEffortPatience);
        }
    }

    public void Close() => _context.Environment.Cancel(_alarm);

    private void Ask()
    {
        if (_stream.Missing.Count == 0)
        {
            return;
        }

        if (!_stream.IsReliable)
        {
            _stream.GiveUp(1, _through);
            if (_stream.Missing.Count > 0)
            {
                OnGap();
            }

            return;
        }

        if (_stream.Contiguous > _contiguousAtAsk)
        {
            _attempt = 0;
        }

        _contiguousAtAsk = _stream.Contiguous;
        if (_stream.Missing[0].First <= _through && ChooseTarget() is { } target)
        {
            Span<byte> packet = stackalloc byte[PullRequest.MaxBytes];
            int bytes = PullRequest.Write(packet, _context.Template(_region.View), _stream.Sender, _stream.Missing, _through);
            if (bytes > 0)
            {
                _context.SendControl(packet[..bytes], target);
                _context.Counters.PullsSent++;
            }
        }

        var repeat = _context.Options.PullRepeat * (1 << Math.Min(_attempt, 8));
        repeat = repeat < _context.Options.PullRepeatMax ? repeat : _context.Options.PullRepeatMax;
        repeat += TimeSpan.FromTicks(_context.RandomBelow((int)(repeat.Ticks / 4) + 1));
        _attempt++;
        _through = _stream.Highest;
        _context.Environment.Schedule(_alarm, repeat);
    }

    private Core.Transport.DatagramAddress? ChooseTarget()
    {
        var live = _region.Live;
        int peers = live.Count - 1;
        bool askSender = !_stream.IsSenderGone
            && (peers == 0 || _attempt >= PeerAttempts || live.Count == 2 && live.Contains(_stream.Sender));
        if (askSender)
        {
            return _context.Directory.Find(_stream.Sender);
        }

        if (peers == 0)
        {
            return null;
        }

        int self = live.IndexOf(_context.Self);
        int choice = _context.RandomBelow(peers);
        return _context.Directory.Find(live[self >= 0 && choice >= self ? choice + 1 : choice]);
    }
}
