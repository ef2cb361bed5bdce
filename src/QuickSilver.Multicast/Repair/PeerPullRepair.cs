using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Pacing;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Repair;

// Requests the missing packets of one stream from other members as soon as a gap is older than the reordering window and another member is
// known to hold the packet. The ring guarantees what this strategy does not get.
//
// Invariant: while a number of a reliable stream is missing, the alarm is pending. At most 32 pulls are sent per turn (PullDrafts).
//
// Intuition: a packet that one member alone has lost can be supplied by any member that has it. A packet that all have lost cannot, and the
// requests of all of them would be a storm. The token, which comes by each millisecond or two, shows the difference: what the seat before
// holds, and what no seat so far holds. Application: each missing packet has its own schedule. It is requested from the seat before if that
// holds it, or from a random member of the partition that keeps it, then from another one, then from the sender. The waits between the
// requests follow the time that answers take, and double, with jitter. Packets that are due at the same time share one request per
// partition, the oldest first. A request names no more packets than were answered recently, because a peer that may not send that many
// answers the rest only after longer and longer waits. What goes wrong: no token comes, or it decides nothing, because members of the ring
// are silent: then a packet is requested all the same after a while. A departed sender cannot be asked. Then keepers and any members are
// asked in turn, because another member may still hold what the keepers have lost. A best-effort stream requests nothing: its gaps are
// given up after a longer wait, and so is a message whose last packets are lost, when nothing comes any more.
internal sealed class PeerPullRepair : IRepairStrategy
{
    private const int PeerAttempts = 2;
    // Of the missing packets, at most the oldest so many are requested at a time. That is more than can be answered while one answer
    // takes. Numbers that were never sent then cost a few requests only, until the sender denies them: a lying member may announce a whole
    // window (F22).
    private const int MostAskedFor = 4096;
    // A request for so many packets costs the same as a request for one, and a lost request must not reduce the limit to single packets.
    private const int LeastAskedFor = 64;
    // If so many times more requests are late than answered, that is more than the loss of requests and answers explains: the peer may not
    // send more.
    private const int LateTimes = 4;
    // Alarms of a best-effort stream between which nothing came.
    private const int QuietLooks = 10;
    private const int OfSender = -1;
    private const int OfAnyone = -2;
    private const int OfNeighbour = -3;
    // If tokens come but show no member that holds a packet, it is requested after so many token timeouts; if none comes, after one. The
    // rings of all levels, and the sender that they ask, are faster than that even if some tokens are lost.
    private const int TimeoutsUntilBlind = 4;

    private readonly SchemeContext _scheme;
    private readonly IViewOfMember _region;
    private readonly IRepairedStream _stream;
    // Answers of the sender wait behind its stream; those of other members do not.
    private readonly PullClock _ofSender;
    private readonly Alarm _alarm;
    private TimeSpan _due;
    // Gaps up to here are scheduled. In a best-effort stream, gaps up to here are given up next.
    private long _through;
    private int _quietLooks;
    // When a token with a record of the stream was last here.
    private TimeSpan _comparedAt;
    // How many of the oldest missing packets may be requested, whether more are missing, and how many requested packets have come since
    // the last request.
    private int _most = MostAskedFor;
    private bool _isLimited;
    private int _answered;
    // The decisions about a departed sender after which packets were still missing.
    private int _decisions;

    private PeerPullRepair(SchemeContext scheme, IViewOfMember region, IRepairedStream stream)
    {
        _scheme = scheme;
        _region = region;
        _stream = stream;
        _ofSender = new PullClock(Context.Options, region.PullClock);
        _alarm = new Alarm(OnDue);
    }

    public static IRepairScheme Scheme { get; } = new PeerPull();

    public bool NeedsNeighbourPush { get; private set; }

    private NodeContext Context => _scheme.Node;

    // Requests for what a departed sender left continue from one decision to the next.
    private int DecisionsOfGone => _stream.IsSenderGone ? _decisions : 0;

    private TimeSpan ReorderWindow => _stream.IsReliable ? _scheme.ReorderWindow : _scheme.BestEffortPatience;

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
            ClockOf(missing.Asked).OnAnswer(Context.Environment.Now - missing.AskedAt, missing.Asked);
            if (++_answered * 2 >= _most && _isLimited)
            {
                WakeIn(TimeSpan.Zero);
            }
        }
    }

    public void OnCompared(in RingComparison compared)
    {
        var now = Context.Environment.Now;
        _comparedAt = now;
        var drafts = Context.Scratch.Of<PullDrafts>();
        drafts.Clear();
        var next = TimeSpan.MaxValue;
        int left = Math.Min(_stream.MayAskFor, _most);
        for (int i = 0; i < compared.Lacked.Count && left > 0; i++)
        {
            var (first, last) = compared.Lacked[i];
            last = Math.Min(last, _stream.Arrived);
            for (long n = first; n <= last && left-- > 0; n++)
            {
                var until = _stream.Missing.Contains(n) ? Note(n, compared, now, drafts) : TimeSpan.MaxValue;
                next = until < next ? until : next;
            }
        }

        if (drafts.Count > 0 && compared.Neighbour is { } neighbour)
        {
            Send(neighbour, drafts[0].Ranges, ofSender: false);
        }

        if (next < TimeSpan.MaxValue)
        {
            WakeIn(next > TimeSpan.Zero ? next : TimeSpan.Zero);
        }
    }

    public void AskAnew()
    {
        _decisions++;
        for (int i = 0; i < _stream.Missing.Count; i++)
        {
            for (long n = _stream.Missing[i].First; n <= _stream.Missing[i].Last; n++)
            {
                ref var slot = ref _stream.MissingSlot(n);
                slot.Asked = 0;
                slot.AskedAt = Context.Environment.Now - ReorderWindow;
            }
        }

        WakeIn(TimeSpan.Zero);
    }

    public void Close() => Context.Environment.Cancel(_alarm);

    private void WakeIn(TimeSpan delay)
    {
        var due = Context.Environment.Now + delay;
        if (!_alarm.IsPending || due < _due)
        {
            _due = due;
            Context.Environment.Schedule(_alarm, delay);
        }
    }

    // Notes whether another member holds a missing packet. Returns the time until the packet is due, if that has changed.
    private TimeSpan Note(long number, in RingComparison compared, TimeSpan now, PullDrafts drafts)
    {
        ref var slot = ref _stream.MissingSlot(number);
        bool isThere = compared.IsAtNeighbour(number);
        if (slot.Asked > 0 || slot.IsHeldElsewhere || !(isThere || compared.Unheld.IsHeld(number)))
        {
            return TimeSpan.MaxValue;
        }

        slot.IsHeldElsewhere = true;
        var until = slot.AskedAt + ReorderWindow - now;
        // Members that do not keep a packet may have dropped it when the keepers had it.
        bool mayPull = isThere && number > _stream.Replicated && !WaitsForKeepers(number) && compared.Neighbour is not null;
        if (until <= ReorderWindow / 4 && mayPull && drafts.TryAdd(OfNeighbour, number))
        {
            slot.Asked = 1;
            slot.AskedAt = now;
            until = ClockOf(1).Wait(1);
        }

        return until;
    }

    // How long after the gap a packet is first requested.
    private TimeSpan FirstWait(long number, in PacketSlot slot)
    {
        bool isKnown = _stream.IsSenderGone || AsksSender(0) || (slot.IsHeldElsewhere && !WaitsForKeepers(number));
        var timeout = Context.Options.TokenTimeout;
        return isKnown ? ReorderWindow : _comparedAt > slot.AskedAt ? timeout * TimeoutsUntilBlind : timeout;
    }

    private bool WaitsForKeepers(long number) => Context.Options.Experiments.PullsWaitForKeepers && number > _stream.Replicated
        && _region.Keepers.KeeperOf(number) != _region.OwnPartition;

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
            _decisions = 0;
            return;
        }

        Context.OnWait();
        if (_stream.IsRefusing)
        {
            // While the members decide what is lost, an answer would be refused. That may take as long as they are partitioned; then
            // everything is requested again.
            WakeIn(Context.Options.PullRepeatMax);
            return;
        }

        _through = _stream.Highest;
        var drafts = Context.Scratch.Of<PullDrafts>();
        drafts.Clear();
        var next = Draft(drafts);
        for (int i = 0; i < drafts.Count; i++)
        {
            if (AddressOf(drafts[i].Target) is { } to)
            {
                Send(to, drafts[i].Ranges, drafts[i].Target == OfSender);
            }
        }

        WakeIn(next + TimeSpan.FromTicks(Context.RandomBelow((int)(next.Ticks / 4) + 1)));
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

    // Returns the time until the next packet is due. Packets that are due within a short time are requested now, because a request costs
    // more than another packet in it.
    private TimeSpan Draft(PullDrafts drafts)
    {
        var now = Context.Environment.Now;
        var together = ReorderWindow / 4;
        var next = Context.Options.PullRepeatMax;
        NeedsNeighbourPush = false;
        int left = Math.Min(_stream.MayAskFor, _most);
        int late = 0;
        for (int i = 0; i < _stream.Missing.Count && left > 0; i++)
        {
            var (first, last) = _stream.Missing[i];
            for (long n = first; n <= last && left-- > 0; n++)
            {
                ref var slot = ref _stream.MissingSlot(n);
                var wait = slot.Asked == 0 ? FirstWait(n, slot) : ClockOf(slot.Asked).Wait(slot.Asked);
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

                NeedsNeighbourPush |= slot.Asked + DecisionsOfGone > PeerAttempts;
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

        // What no member has is decided in epochs, after each of which the requests are counted from the start.
        bool ofAnyone = _stream.IsSenderGone && (asked + DecisionsOfGone) % 2 != 0;
        return ofAnyone ? OfAnyone : _region.Keepers.KeeperOf(number);
    }

    // Whether the sender is the target after so many requests.
    private bool AsksSender(int asked) =>
        _region.AsksOnlySender(_stream) || (asked >= PeerAttempts && !_stream.IsSenderGone);

    // The clock of the target of the last request.
    private PullClock ClockOf(int asked) => AsksSender(asked - 1) ? _ofSender : _region.PullClock;

    private void Send(DatagramAddress to, SequenceRanges ranges, bool ofSender)
    {
        Span<byte> packet = stackalloc byte[Math.Min(_scheme.Paths.Sizes.To(to), PullRequest.MaxBytes)];
        var template = _region.Template.Of(_stream.Class.Value);
        int bytes = PullRequest.Write(packet, template, _stream.Sender, _stream.Highest, ranges, 0, SequenceRanges.MaxNumber);
        Context.SendControl(packet[..bytes], to);
        Context.Counters.PullsSent++;
        for (int i = 0; i < ranges.Count && _scheme.RepairWatch is { } watch; i++)
        {
            watch.OnAsked(_stream, ranges[i].First, ranges[i].Last, ofSender);
        }
    }

    private DatagramAddress? AddressOf(int target)
    {
        if (target == OfSender)
        {
            return Context.Directory.Find(_stream.Sender);
        }

        var (from, end) = target == OfAnyone ? (0, _region.Live.Ranks) : _region.Keepers.MembersOf(target);
        return ChoosePeer(from, end) ?? ChoosePeer(0, _region.Live.Ranks);
    }

    // A random live member of these ranks, except this one.
    private DatagramAddress? ChoosePeer(int from, int end)
    {
        var live = _region.Live;
        int self = _region.SelfRank;
        int choice = Context.RandomBelow(end - from);
        for (int i = 0; i < end - from; i++)
        {
            int rank = from + ((choice + i) % (end - from));
            if (rank != self && live.IsLive(rank))
            {
                return Context.Directory.Find(live[rank]);
            }
        }

        return null;
    }

    private sealed class PeerPull : IRepairScheme
    {
        public IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream) =>
            new PeerPullRepair(context, view, stream);
    }
}
