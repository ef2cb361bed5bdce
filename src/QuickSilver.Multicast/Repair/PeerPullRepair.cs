using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Repair;

// Asks for what one stream misses, at once and by itself; the ring guarantees what this does not get.
//
// Intuition: a loss is usually one member's alone, so a random one of those who keep the packet has it. Application: each
// missing packet has its own time: it is asked for when it is older than the reordering window, of a random member of the
// partition that keeps it, then of another, then of the sender, at waits that follow how long answers take and double, with jitter.
// What is due at one time goes into one request per partition, the oldest first, and no more than was answered of late: who is asked
// for more than it may send leaves the rest to longer and longer waits. What goes wrong: a sender that is gone cannot be
// asked, so then anyone is, as others may still hold what those who were to keep it have lost; and a best-effort stream asks
// nobody: its gaps are given up after a longer wait, and a message whose last packets were lost when nothing comes any more.
internal sealed class PeerPullRepair : IRepairStrategy
{
    private const int PeerAttempts = 2;
    // Of what is missing, the oldest so many are asked for at a time: more than is answered in the time that an answer takes. Numbers that
    // were never sent, of which a member that lies may tell a whole window, then cost a few requests only until their sender denies them.
    private const int MostAskedFor = 4096;
    // A request costs the same for so many as for one, and one that was lost must not leave a gap to single packets.
    private const int LeastAskedFor = 64;
    // So many times more late than answered is more than loss makes of requests and answers: who is asked may not send more.
    private const int LateTimes = 4;
    // Looks at a best-effort stream between which nothing came.
    private const int QuietLooks = 10;
    private const int OfSender = -1;
    private const int OfAnyone = -2;

    private readonly MulticastContext _context;
    private readonly RegionReceiver _region;
    private readonly InboundStream _stream;
    // The sender's answers wait behind its stream; other members' do not.
    private readonly PullClock _ofSender;
    private readonly Alarm _alarm;
    private TimeSpan _due;
    // Gaps up to here have their times; of a best-effort stream, those up to here are given up next.
    private long _through;
    private int _quietLooks;
    // The oldest so many of what is missing may be asked for; whether there are more; and how many that were asked for have come since
    // the last request.
    private int _most = MostAskedFor;
    private bool _isLimited;
    private int _answered;

    private PeerPullRepair(MulticastContext context, RegionReceiver region, InboundStream stream)
    {
        _context = context;
        _region = region;
        _stream = stream;
        _ofSender = new PullClock(context.Options, region.PullClock);
        _alarm = new Alarm(OnDue);
    }

    public static IRepairScheme Scheme { get; } = new PeerPull();

    public bool NeedsNeighbourPush { get; private set; }

    private TimeSpan ReorderWindow => _stream.IsReliable ? _context.Options.ReorderWindow : _context.Options.BestEffortPatience;

    public void OnMissing()
    {
        if (_alarm.IsPending && (!_stream.IsReliable || _stream.Missing[_stream.Missing.Count - 1].Last <= _through))
        {
            return;
        }

        _through = _stream.Highest;
        WakeIn(ReorderWindow);
    }

    public void OnFilled(in PacketSlot missing)
    {
        if (missing.Asked > 0)
        {
            ClockOf(missing.Asked).OnAnswer(_context.Environment.Now - missing.AskedAt, missing.Asked);
            if (++_answered * 2 >= _most && _isLimited)
            {
                WakeIn(TimeSpan.Zero);
            }
        }
    }

    public void AskAnew()
    {
        for (int i = 0; i < _stream.Missing.Count; i++)
        {
            for (long n = _stream.Missing[i].First; n <= _stream.Missing[i].Last; n++)
            {
                ref var slot = ref _stream.MissingSlot(n);
                slot.Asked = 0;
                slot.AskedAt = _context.Environment.Now - ReorderWindow;
            }
        }

        WakeIn(TimeSpan.Zero);
    }

    public void Close() => _context.Environment.Cancel(_alarm);

    private void WakeIn(TimeSpan delay)
    {
        var due = _context.Environment.Now + delay;
        if (!_alarm.IsPending || due < _due)
        {
            _due = due;
            _context.Environment.Schedule(_alarm, delay);
        }
    }

    private void OnDue()
    {
        if (!_stream.IsReliable)
        {
            GiveUp();
            return;
        }

        if (_stream.Missing.Count == 0)
        {
            NeedsNeighbourPush = false;
            return;
        }

        _context.OnWait();
        if (_stream.IsRefusing)
        {
            // Until the members have decided, which may take as long as they are cut off; then all is asked for anew.
            WakeIn(_context.Options.PullRepeatMax);
            return;
        }

        _through = _stream.Highest;
        var drafts = _context.PullDrafts;
        drafts.Clear();
        var next = Draft(drafts);
        for (int i = 0; i < drafts.Count; i++)
        {
            Send(drafts[i].Target, drafts[i].Ranges);
        }

        WakeIn(next + TimeSpan.FromTicks(_context.RandomBelow((int)(next.Ticks / 4) + 1)));
    }

    private void GiveUp()
    {
        if (_stream.Missing.Count > 0)
        {
            _stream.GiveUp(1, _through);
        }

        _quietLooks = _stream.Highest > _through ? 0 : _quietLooks + 1;
        if (_quietLooks >= QuietLooks)
        {
            _stream.GiveUpOpen();
            _quietLooks = 0;
        }

        _region.NoteGap(_stream);
    }

    // Gives how long the next is not due. What is due within a short while goes at once: a request costs more than a packet in it.
    private TimeSpan Draft(PullDrafts drafts)
    {
        var now = _context.Environment.Now;
        var together = ReorderWindow / 4;
        var next = _context.Options.PullRepeatMax;
        NeedsNeighbourPush = false;
        int left = Math.Min(_stream.MayAskFor, _most);
        int late = 0;
        for (int i = 0; i < _stream.Missing.Count && left > 0; i++)
        {
            var (first, last) = _stream.Missing[i];
            for (long n = first; n <= last && left-- > 0; n++)
            {
                ref var slot = ref _stream.MissingSlot(n);
                var wait = slot.Asked == 0 ? ReorderWindow : ClockOf(slot.Asked).Wait(slot.Asked);
                var until = slot.AskedAt + wait - now;
                if (until <= together && drafts.TryAdd(TargetOf(n, slot.Asked), n))
                {
                    if (slot.Asked == 1 && AsksSender(0))
                    {
                        _ofSender.OnLate(slot.AskedAt, now);
                    }

                    late += slot.Asked > 0 ? 1 : 0;
                    slot.Asked = (byte)Math.Min(slot.Asked + 1, byte.MaxValue);
                    slot.AskedAt = now;
                    until = ClockOf(slot.Asked).Wait(slot.Asked);
                }

                NeedsNeighbourPush |= slot.Asked > PeerAttempts;
                until = until > together ? until : together;
                next = until < next ? until : next;
            }
        }

        _isLimited = left <= 0;
        NoteLate(late);
        return next;
    }

    private void NoteLate(int late)
    {
        if (late > _answered * LateTimes)
        {
            _most = Math.Max(LeastAskedFor, _answered * 2);
        }
        else if (_isLimited && late == 0)
        {
            _most = Math.Min(_most * 2, MostAskedFor);
        }

        _answered = 0;
    }

    private int TargetOf(long number, int asked)
    {
        if (AsksSender(asked))
        {
            return OfSender;
        }

        return asked > PeerAttempts ? OfAnyone : _region.Keepers.KeeperOf(number);
    }

    // Whether it is the sender that is asked after so many requests.
    private bool AsksSender(int asked)
    {
        var live = _region.Live;
        return !_stream.IsSenderGone
            && (live.Count == 1 || asked >= PeerAttempts || (live.Count == 2 && live.Contains(_stream.Sender)));
    }

    // Of those who were asked last.
    private PullClock ClockOf(int asked) => AsksSender(asked - 1) ? _ofSender : _region.PullClock;

    private void Send(int target, SequenceRanges ranges)
    {
        if (AddressOf(target) is not { } to)
        {
            return;
        }

        Span<byte> packet = stackalloc byte[Math.Min(_context.Options.PacketBytes, PullRequest.MaxBytes)];
        int bytes = PullRequest.Write(packet, _region.Template, _stream.Sender, _stream.Highest, ranges, 0, SequenceRanges.MaxNumber);
        _context.SendControl(packet[..bytes], to);
        _context.Counters.PullsSent++;
        for (int i = 0; i < ranges.Count && _context.RepairWatch is { } watch; i++)
        {
            watch.OnAsked(_stream, ranges[i].First, ranges[i].Last, target == OfSender);
        }
    }

    private DatagramAddress? AddressOf(int target)
    {
        if (target == OfSender)
        {
            return _context.Directory.Find(_stream.Sender);
        }

        var (from, end) = target == OfAnyone ? (0, _region.Live.Ranks) : _region.Keepers.MembersOf(target);
        return ChoosePeer(from, end) ?? ChoosePeer(0, _region.Live.Ranks);
    }

    // A random live member of those ranks, but this one.
    private DatagramAddress? ChoosePeer(int from, int end)
    {
        var live = _region.Live;
        int self = _region.SelfRank;
        int choice = _context.RandomBelow(end - from);
        for (int i = 0; i < end - from; i++)
        {
            int rank = from + ((choice + i) % (end - from));
            if (rank != self && live.IsLive(rank))
            {
                return _context.Directory.Find(live[rank]);
            }
        }

        return null;
    }

    private sealed class PeerPull : IRepairScheme
    {
        public IRepairStrategy ForReceiver(MulticastContext context, RegionReceiver region, InboundStream stream) =>
            new PeerPullRepair(context, region, stream);
    }
}
