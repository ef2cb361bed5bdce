using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Recovery;

// The token ring of one view (DESIGN 6; QSM paper, section 2): the first live member releases the token, each member adds
// what it holds of each sender and passes it to the next, and what comes home is the region's state: what all hold (the
// cache may go, the sender is acknowledged), what any holds (so that all learn of it and pull), and, of a sender that is
// gone, what nobody has (given up together).
//
// Application: about one token a second while nothing is open, thousands while something moves, and ever fewer while what is
// open waits (a slow reader, a gap that nobody could fill yet); at most one token of a ring is under way, an older round is
// dropped, so there are no convoys. What goes wrong: a token is lost (a new round
// after a time-out that doubles), a member is silent (probed, then reported to the membership service), the leader dies
// (the next member in the view leads when the service has removed it; members watch for it).
internal sealed class TokenRing
{
    private const int QuietRounds = 3;
    private const int ProbesUntilSuspect = 3;
    private const int PushLimit = 32;

    private readonly MulticastContext _context;
    private readonly RegionReceiver _region;
    private readonly PacketTemplate _template;
    private readonly Token _token = new();
    private readonly Alarm _timer;
    private readonly Alarm _watch;
    private readonly Dictionary<NodeKey, RoundResult> _results = [];
    private readonly Dictionary<NodeKey, int> _probes = [];
    private readonly byte[] _packet;
    private long _round;
    private bool _underWay;
    private bool _waitsIdle;
    private bool _isWanted;
    // Rounds since the last that found something moved.
    private int _stillRounds;
    private bool _sawToken;
    private TimeSpan _timeout;
    private int _timeouts;

    public TokenRing(MulticastContext context, RegionReceiver region)
    {
        _context = context;
        _region = region;
        _template = context.Template(region.View);
        _packet = new byte[context.Options.PacketBytes];
        _timer = new Alarm(OnTimer);
        _watch = new Alarm(OnWatch);
        _timeout = context.Options.TokenTimeout;
        LastBusy = LastHeard = context.Environment.Now;
        Rest();
    }

    /// <summary>Duration of the last whole round at the leader; zero before the first.</summary>
    public TimeSpan LastRoundTrip { get; private set; }

    /// <summary>When a token last said that something is not settled, here or at another member.</summary>
    public TimeSpan LastBusy { get; private set; }

    /// <summary>When the last token came by.</summary>
    public TimeSpan LastHeard { get; private set; }

    private TimeSpan RoundBegan { get; set; }

    private bool IsLeader => _region.Live.Count > 0 && _region.Live[0] == _context.Self;

    public void OnActivity()
    {
        if (IsLeader && !_underWay && (_waitsIdle || !_timer.IsPending))
        {
            _waitsIdle = false;
            _context.Environment.Schedule(_timer, _context.Options.TokenIntervalActive);
        }
    }

    /// <summary>A sender wants to know soon what is held: the next round begins at once, or as soon as this one is over.</summary>
    public void OnAckWanted()
    {
        if (!IsLeader)
        {
            return;
        }

        if (_underWay)
        {
            _isWanted = true;
            return;
        }

        _waitsIdle = false;
        _context.Environment.Schedule(_timer, TimeSpan.Zero);
    }

    /// <summary>A sender that announces is not acknowledged yet: perhaps the acknowledgement was lost, so it is told again.</summary>
    public void OnAnnounce(NodeKey sender)
    {
        var result = Result(sender);
        result.QuietRounds = 0;
        result.LastAck = default;
        OnActivity();
    }

    public void OnMembersChanged()
    {
        _probes.Clear();
        _underWay = false;
        _timeouts = 0;
        if (IsLeader)
        {
            _waitsIdle = false;
            _context.Environment.Schedule(_timer, TimeSpan.Zero);
            _context.Environment.Cancel(_watch);
        }
    }

    public DropReason OnToken(NodeKey from, ReadOnlySpan<byte> body)
    {
        if (!_region.Live.Contains(from))
        {
            return DropReason.NotMember;
        }

        if (!_token.TryRead(body))
        {
            return DropReason.Malformed;
        }

        if (_token.To != _context.Self)
        {
            // For an earlier life at this address.
            return DropReason.NotMember;
        }

        if (_token.Leader == _context.Self)
        {
            if (!_underWay || _token.Round != _round)
            {
                return DropReason.Duplicate;
            }

            Complete();
            return DropReason.None;
        }

        if (_token.Round <= _round || !_region.Live.Contains(_token.Leader))
        {
            return DropReason.Duplicate;
        }

        _round = _token.Round;
        _sawToken = true;
        Visit(_context.Directory.Find(from));
        Pass(0);
        return DropReason.None;
    }

    public void OnProbeReply(NodeKey from) => _probes.Remove(from);

    public void Close()
    {
        _context.Environment.Cancel(_timer);
        _context.Environment.Cancel(_watch);
    }

    private void OnTimer()
    {
        if (!IsLeader)
        {
            return;
        }

        if (_underWay)
        {
            _context.Counters.TokenTimeouts++;
            _timeout = _timeout * 2 < _context.Options.TokenTimeoutMax ? _timeout * 2 : _context.Options.TokenTimeoutMax;
            if (++_timeouts >= ProbesUntilSuspect)
            {
                foreach (var member in _region.Live)
                {
                    Probe(member);
                }
            }
        }

        StartRound();
    }

    private void StartRound()
    {
        _round++;
        _token.Clear();
        _token.Round = _round;
        _token.Leader = _context.Self;
        _token.KernelDrops = _region.Port?.KernelDrops ?? 0;
        _token.ReceiveBufferBytes = _region.Port?.ReceiveBufferBytes ?? 0;
        foreach (var stream in _region.Streams)
        {
            if (!stream.IsReliable)
            {
                continue;
            }

            var result = Result(stream.Sender);
            bool quiet = result.Stable >= stream.Highest && stream.IsDrained && (!stream.IsSenderGone || result.IsFinished(stream));
            result.QuietRounds = quiet ? result.QuietRounds + 1 : 0;
            if (result.QuietRounds > QuietRounds)
            {
                continue;
            }

            var record = _token.Add(stream.Sender);
            record.Stable = result.Stable;
            record.HeldByAll = stream.Contiguous;
            record.ConsumedByAll = stream.Consumed;
            record.ReadByAll = stream.Read;
            record.HeldByAny = stream.Highest;
            record.PreviousHeldByAny = result.HeldByAny;
            SignAsNeighbour(record, stream);
            if (result.Lost.Count > 0)
            {
                record.IsDecided = true;
                Copy(result.Lost, record.LackedByAll);
            }
            else if (stream.IsSenderGone && !result.IsFinished(stream))
            {
                record.IsGathering = true;
                Copy(stream.Missing, record.LackedByAll);
            }
        }

        _underWay = true;
        RoundBegan = _context.Environment.Now;
        if (_region.Live.Count == 1)
        {
            Complete();
            return;
        }

        Pass((int)(_round % int.MaxValue));
        _context.Environment.Schedule(_timer, _timeout);
    }

    private void Visit(DatagramAddress? neighbour)
    {
        _token.KernelDrops += _region.Port?.KernelDrops ?? 0;
        if (_region.Port is not null)
        {
            _token.ReceiveBufferBytes = Math.Min(_token.ReceiveBufferBytes, _region.Port.ReceiveBufferBytes);
        }

        for (int i = 0; i < _token.Count; i++)
        {
            var record = _token[i];
            var stream = _region.FindOrAdd(record.Sender, reliable: true);
            var result = Result(record.Sender);
            result.Stable = Math.Max(result.Stable, record.Stable);
            result.HeldByAny = Math.Max(result.HeldByAny, record.PreviousHeldByAny);
            stream.OnAnnounced(record.PreviousHeldByAny, final: false);
            _region.NoteGap(stream);
            if (record.IsDecided)
            {
                GiveUp(stream, record.LackedByAll);
            }

            stream.SetStable(record.Stable);
            FinishIfDone(stream, result);
            if (neighbour is not null)
            {
                Push(stream, record.NeighbourGaps, neighbour);
            }

            record.HeldByAll = Math.Min(record.HeldByAll, stream.Contiguous);
            record.ConsumedByAll = Math.Min(record.ConsumedByAll, stream.Consumed);
            record.ReadByAll = Math.Min(record.ReadByAll, stream.Read);
            record.HeldByAny = Math.Max(record.HeldByAny, stream.Highest);
            if (!stream.IsSenderGone)
            {
                // Whoever may still hear the sender may still get what all others lack: no decision in this round.
                record.IsGathering = false;
            }

            if (record.IsGathering)
            {
                record.LackedByAll.IntersectWith(stream.Missing);
            }

            SignAsNeighbour(record, stream);
        }

        foreach (var stream in _region.Streams)
        {
            if (stream.IsReliable && stream.Highest > stream.Stable && _token.Find(stream.Sender) is null)
            {
                var record = _token.Add(stream.Sender);
                record.Stable = Result(stream.Sender).Stable;
                record.HeldByAny = stream.Highest;
                SignAsNeighbour(record, stream);
            }
        }

        NoteBusy();
        if (!_watch.IsPending)
        {
            _context.Environment.Schedule(_watch, _context.Options.TokenIntervalIdle * 3);
        }
    }

    private void NoteBusy()
    {
        LastHeard = _context.Environment.Now;
        for (int i = 0; i < _token.Count; i++)
        {
            var record = _token[i];
            if (record.IsGathering || record.IsDecided || record.HeldByAll < record.HeldByAny || record.ConsumedByAll < record.HeldByAny)
            {
                LastBusy = LastHeard;
            }
        }
    }

    private void Complete()
    {
        _underWay = false;
        _timeouts = 0;
        _probes.Clear();
        LastRoundTrip = _context.Environment.Now - RoundBegan;
        var adapted = LastRoundTrip * 4;
        _timeout = adapted > _context.Options.TokenTimeout ? adapted : _context.Options.TokenTimeout;
        NoteBusy();
        bool open = false;
        bool moved = false;
        for (int i = 0; i < _token.Count; i++)
        {
            var record = _token[i];
            var stream = _region.FindOrAdd(record.Sender, reliable: true);
            var result = Result(record.Sender);
            bool allKnewAll = record.HeldByAny == record.PreviousHeldByAny;
            moved |= !allKnewAll || record.HeldByAll > result.Stable || record.ConsumedByAll > result.Consumed
                || record.ReadByAll > result.Read || record.IsDecided;
            result.Consumed = record.ConsumedByAll;
            result.Read = record.ReadByAll;
            result.Stable = Math.Max(result.Stable, record.HeldByAll);
            if (record.Stable < result.Stable)
            {
                // News, or a member that no quiet round has reached yet: it is told (again).
                result.QuietRounds = 0;
            }

            result.HeldByAny = Math.Max(result.HeldByAny, record.HeldByAny);
            stream.OnAnnounced(record.HeldByAny, final: false);
            _region.NoteGap(stream);
            if (record.IsDecided)
            {
                result.Lost.Clear();
            }
            else if (record.IsGathering && allKnewAll)
            {
                Copy(record.LackedByAll, result.Lost);
                GiveUp(stream, result.Lost);
                if (result.Lost.Count == 0 && result.Stable >= result.HeldByAny)
                {
                    result.FinishedThrough = result.HeldByAny;
                }
            }

            stream.SetStable(result.Stable);
            FinishIfDone(stream, result);
            Acknowledge(record, result);
            open |= result.Stable < stream.Highest || record.ConsumedByAll < stream.Highest || result.QuietRounds < QuietRounds;
        }

        if (open)
        {
            _stillRounds = moved ? 0 : _stillRounds + 1;
            // What arrives meanwhile ends the wait.
            _waitsIdle = _stillRounds > 0;
            _context.Environment.Schedule(_timer, _isWanted ? TimeSpan.Zero : OpenInterval());
        }
        else
        {
            Rest();
        }

        _isWanted = false;
    }

    private TimeSpan OpenInterval()
    {
        var interval = _context.Options.TokenIntervalActive * (1 << Math.Min(_stillRounds, 8));
        return interval < _context.Options.TokenIntervalWaiting ? interval : _context.Options.TokenIntervalWaiting;
    }

    // A ring of one has nothing to watch: it sleeps until there is data.
    private void Rest()
    {
        _waitsIdle = true;
        if (_region.Live.Count > 1)
        {
            _context.Environment.Schedule(IsLeader ? _timer : _watch, _context.Options.TokenIntervalIdle * (IsLeader ? 1 : 3));
        }
    }

    private void Acknowledge(RecoveryRecord record, RoundResult result)
    {
        var ack = new AggregateAck(
            record.Sender, result.Stable, record.ConsumedByAll, record.ReadByAll, _token.KernelDrops, _token.ReceiveBufferBytes);
        if (ack == result.LastAck && result.QuietRounds > 0)
        {
            return;
        }

        result.LastAck = ack;
        if (_context.Directory.Find(record.Sender) is { } address)
        {
            Span<byte> packet = stackalloc byte[AggregateAck.Bytes];
            ack.Write(packet, _template);
            _context.SendControl(packet, address);
        }
    }

    private void Pass(int rotation)
    {
        int self = _region.Live.IndexOf(_context.Self);
        if (self < 0)
        {
            return;
        }

        var next = _region.Live[(self + 1) % _region.Live.Count];
        if (_context.Directory.Find(next) is { } address)
        {
            _token.To = next;
            int bytes = _token.Write(_packet, _template, _token.Count == 0 ? 0 : rotation % _token.Count);
            _context.SendControl(_packet.AsSpan(0, bytes), address);
            _context.Counters.TokensSent++;
        }
    }

    private void Push(InboundStream stream, SequenceRanges gaps, DatagramAddress neighbour)
    {
        int sent = 0;
        var now = _context.Environment.Now;
        for (int i = 0; i < gaps.Count; i++)
        {
            var (first, last) = gaps[i];
            for (long n = Math.Max(first, stream.Stable + 1); n <= Math.Min(last, stream.Highest) && sent < PushLimit; n++)
            {
                if (stream.TryGetPacket(n, out var packet, now, _context.Options.PullRepeat))
                {
                    _context.SendRepair(packet, neighbour);
                    sent++;
                }
            }
        }
    }

    private void SignAsNeighbour(RecoveryRecord record, InboundStream stream)
    {
        record.NeighbourContiguous = stream.Contiguous;
        record.NeighbourGaps.Clear();
        if (_region.IsPullStubborn(stream))
        {
            Copy(stream.Missing, record.NeighbourGaps);
        }
    }

    private void FinishIfDone(InboundStream stream, RoundResult result)
    {
        if (stream.IsSenderGone && result.ReportedThrough < stream.Highest && stream.Contiguous >= stream.Highest
            && result.Stable >= result.HeldByAny && result.HeldByAny >= stream.Highest)
        {
            result.ReportedThrough = stream.Highest;
            stream.Finish();
        }
    }

    private static void GiveUp(InboundStream stream, SequenceRanges lost)
    {
        for (int i = 0; i < lost.Count; i++)
        {
            stream.GiveUp(lost[i].First, lost[i].Last);
        }
    }

    private static void Copy(SequenceRanges from, SequenceRanges into)
    {
        into.Clear();
        for (int i = 0; i < from.Count && i < RecoveryRecord.MaxRanges; i++)
        {
            into.Add(from[i].First, from[i].Last);
        }
    }

    // A member that has seen no token for some idle intervals asks whether the leader lives.
    private void OnWatch()
    {
        if (_region.Live.Count < 2 || IsLeader)
        {
            return;
        }

        if (!_sawToken)
        {
            Probe(_region.Live[0]);
        }

        _sawToken = false;
        _context.Environment.Schedule(_watch, _context.Options.TokenIntervalIdle * 3);
    }

    private void Probe(NodeKey member)
    {
        if (member == _context.Self || _context.Directory.Find(member) is not { } address)
        {
            return;
        }

        int misses = _probes.GetValueOrDefault(member);
        if (misses >= ProbesUntilSuspect)
        {
            _context.Membership.ReportSuspect(member, $"no answer to {misses} probes in {_region.View}");
        }

        _probes[member] = misses + 1;
        Span<byte> packet = stackalloc byte[PacketHeader.Bytes];
        _template.Write(packet, PacketKind.Probe, PacketFlags.None, 0, 0, 0);
        PacketTemplate.Seal(packet);
        _context.SendControl(packet, address);
    }

    private RoundResult Result(NodeKey sender)
    {
        if (!_results.TryGetValue(sender, out var result))
        {
            result = new RoundResult();
            _results.Add(sender, result);
        }

        return result;
    }

    // What the rounds so far have settled of one sender.
    private sealed class RoundResult
    {
        public long Stable;
        public long HeldByAny;
        public long Consumed;
        public long Read;
        public int QuietRounds;
        // Of a sender that is gone: up to where the ring has decided, and up to where those above were told. A member that
        // heard of the removal later may bring more, and then both go on.
        public long FinishedThrough = -1;
        public long ReportedThrough = -1;
        public AggregateAck LastAck;

        public SequenceRanges Lost { get; } = new(RecoveryRecord.MaxRanges);

        public bool IsFinished(InboundStream stream) => FinishedThrough >= stream.Highest;
    }
}
