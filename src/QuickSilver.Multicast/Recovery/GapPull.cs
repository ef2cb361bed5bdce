using QuickSilver.Core.Alarms;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Recovery;

// Asks for what one stream misses, at once and by itself; the ring guarantees what this does not get.
//
// Intuition: a loss is usually one member's alone, so a random member has it. Application: a gap older than the reordering
// window is asked of one random peer by ranges, then of another, then of the sender, at doubling intervals with jitter. Gaps
// that come while others wait for an answer are asked for once as soon as they are old enough, and then wait with them: on a
// lossy link there are always some that wait. What goes wrong: a sender that is gone cannot be asked, and a best-effort
// stream asks nobody: its gaps are given up after a longer wait.
internal sealed class GapPull
{
    private const int PeerAttempts = 2;
    private const int BestEffortPatience = 10;

    private readonly MulticastContext _context;
    private readonly RegionReceiver _region;
    private readonly InboundStream _stream;
    private readonly Alarm _alarm;
    private readonly Alarm _fresh;
    private long _through;
    // Gaps up to here were asked for, and up to where they will be once the reordering window is over.
    private long _asked;
    private long _freshThrough;
    private long _contiguousAtAsk;
    private int _attempt;

    public GapPull(MulticastContext context, RegionReceiver region, InboundStream stream)
    {
        _context = context;
        _region = region;
        _stream = stream;
        _alarm = new Alarm(Ask);
        _fresh = new Alarm(AskFresh);
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
        else
        {
            NoteFresh();
        }
    }

    public void Close()
    {
        _context.Environment.Cancel(_alarm);
        _context.Environment.Cancel(_fresh);
    }

    private void NoteFresh()
    {
        if (_stream.IsReliable && !_fresh.IsPending && _stream.Missing.Count > 0
            && _stream.Missing[_stream.Missing.Count - 1].Last > Math.Max(_asked, _through))
        {
            _freshThrough = _stream.Highest;
            _context.Environment.Schedule(_fresh, _context.Options.ReorderWindow);
        }
    }

    private void AskFresh()
    {
        Request(Math.Max(_asked, _through), _freshThrough);
        _asked = Math.Max(_asked, _freshThrough);
        NoteFresh();
    }

    private void Request(long after, long through)
    {
        if (ChooseTarget() is not { } target)
        {
            return;
        }

        Span<byte> packet = stackalloc byte[Math.Min(_context.Options.PacketBytes, PullRequest.MaxBytes)];
        int bytes = PullRequest.Write(packet, _context.Template(_region.View), _stream.Sender, _stream.Missing, after, through);
        if (bytes > 0)
        {
            _context.SendControl(packet[..bytes], target);
            _context.Counters.PullsSent++;
        }
    }

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
        if (_stream.Missing[0].First <= _through)
        {
            Request(0, _through);
        }

        var repeat = _context.Options.PullRepeat * (1 << Math.Min(_attempt, 8));
        repeat = repeat < _context.Options.PullRepeatMax ? repeat : _context.Options.PullRepeatMax;
        repeat += TimeSpan.FromTicks(_context.RandomBelow((int)(repeat.Ticks / 4) + 1));
        _attempt++;
        // The next time what was asked for by now; what is newer is asked for by itself first.
        _asked = Math.Max(_asked, _through);
        _through = _asked;
        NoteFresh();
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
