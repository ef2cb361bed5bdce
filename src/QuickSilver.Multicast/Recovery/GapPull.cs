using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Recovery;

// Asks for what one stream misses, at once and by itself; the ring guarantees what this does not get.
//
// Intuition: a loss is usually one member's alone, so a random one of those who keep the packet has it. Application: a gap older
// than the reordering window is asked, by ranges, of one random member of each partition that keeps some of it, then of another,
// then of the sender, at doubling intervals with jitter. Gaps
// that come while others wait for an answer are asked for once as soon as they are old enough, and then wait with them: on a
// lossy link there are always some that wait. What goes wrong: a sender that is gone cannot be asked, and a best-effort
// stream asks nobody: its gaps are given up after a longer wait.
internal sealed class GapPull
{
    private const int PeerAttempts = 2;
    private const int BestEffortPatience = 10;
    private const int MostPartitionsAsked = 32;

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

    /// <summary>All that is missing is asked for now, as if for the first time.</summary>
    public void AskAnew()
    {
        _attempt = 0;
        _through = _stream.Highest;
        _context.Environment.Schedule(_alarm, TimeSpan.Zero);
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

    // One request to each partition that keeps something of what is missing, all at once.
    private void Request(long after, long through)
    {
        if (AsksSender())
        {
            Send(_context.Directory.Find(_stream.Sender), after, through);
            return;
        }

        // In the end anyone: another member may hold what those who were to keep it have lost.
        if (_region.Shape.Partitions == 1 || _attempt > PeerAttempts)
        {
            Send(ChoosePeer(0, _region.Live.Ranks), after, through);
            return;
        }

        Span<int> asked = stackalloc int[MostPartitionsAsked];
        int count = 0;
        for (int i = 0; i < _stream.Missing.Count && count < MostPartitionsAsked; i++)
        {
            var (first, last) = _stream.Missing[i];
            for (long n = Math.Max(first, after + 1); n <= Math.Min(last, through); n = RingShape.BlockEnd(n) + 1)
            {
                int partition = _region.Shape.KeeperOf(n);
                if (count == MostPartitionsAsked || asked[..count].Contains(partition))
                {
                    continue;
                }

                asked[count++] = partition;
                var (from, end) = _region.Shape.MembersOfPartition(partition);
                Send(ChoosePeer(from, end) ?? ChoosePeer(0, _region.Live.Ranks), after, through, _region.Shape, partition);
            }
        }
    }

    private void Send(DatagramAddress? to, long after, long through, RingShape? keepers = null, int partition = 0)
    {
        if (to is null)
        {
            return;
        }

        Span<byte> packet = stackalloc byte[Math.Min(_context.Options.PacketBytes, PullRequest.MaxBytes)];
        int bytes = PullRequest.Write(
            packet, _region.Rings.Template, _stream.Sender, _stream.Missing, after, through, keepers, partition);
        if (bytes > 0)
        {
            _context.SendControl(packet[..bytes], to);
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

    private bool AsksSender()
    {
        var live = _region.Live;
        return !_stream.IsSenderGone
            && (live.Count == 1 || _attempt >= PeerAttempts || (live.Count == 2 && live.Contains(_stream.Sender)));
    }

    // A random live member of those ranks, but this one.
    private DatagramAddress? ChoosePeer(int from, int end)
    {
        var live = _region.Live;
        int self = _region.Rings.SelfRank;
        int choice = from + _context.RandomBelow(end - from);
        for (int i = 0; i < end - from; i++)
        {
            int rank = from + ((choice - from + i) % (end - from));
            if (rank != self && live.IsLive(rank))
            {
                return _context.Directory.Find(live[rank]);
            }
        }

        return null;
    }
}
