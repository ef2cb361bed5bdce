using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Stability;

// One ring of one view, at one of its members (000, section 2). At level 0 the members occupy the seats. Above it each seat is a
// ring of the level below, and that ring's leader occupies it and reports what the ring's last whole round has found. The first live seat
// leads. The leader releases the token, each seat adds what it holds of each sender and passes the token on, and the token that returns
// contains what all members under this ring hold, and what any member holds. The only ring of the last level is the root. Its result is
// the state of the view: it permits the cache to release packets, and is acknowledged to the sender.
//
// Invariants: at most one token of a ring is in flight, and a token of an older round is dropped, so tokens do not queue up behind each
// other. Rings run independently of each other.
//
// Application: there is about one token per second while nothing is open, thousands while packets move, and fewer and fewer while what is
// open does not change (a slow reader, a gap that no member could fill yet). What goes wrong: a token is lost (a new round begins after a
// timeout that doubles; while that happens often, each member sends the token twice: where links lose 5 %, a token that is sent once comes
// around a ring of sixteen in 44 of 100 rounds, and one that is sent twice in 96); a member is silent (it is probed, then skipped, then
// reported to the membership service); the leader dies (members watch it, and the next live seat leads when the service has removed it);
// two members that both hear the leader do not hear each other (the leader's probes ask each member to check the member that sends it the
// token).
internal sealed class TokenRing
{
    private const int QuietRounds = 3;
    private const int TimeoutsUntilProbe = 3;

    private readonly NodeContext _context;
    private readonly ITrackedView _region;
    private readonly RingHierarchy _rings;
    private readonly RingRecords _records;
    private readonly RingSeats _seats;
    private readonly RingRepair _repair;
    private readonly RingResults _results;
    private readonly Alarm _timer;
    private readonly Alarm _watch;
    private readonly RoundTimer _clock;
    private readonly RingProbes _probes;
    // The last round that this member began. It continues from there if it leads again.
    private long _lastLedRound;
    private bool _isInFlight;
    private bool _waitsIdle;
    private bool _isWanted;
    // The number of rounds since the last one in which a value changed.
    private int _unchangedRounds;
    private bool _sawToken;
    // A member of a higher rank may lead because it considers a member removed that is not removed here. When the higher one is removed
    // itself, lower ranks lead again.
    private RoundSequence _rounds;

    public TokenRing(RingHierarchy rings, int level)
    {
        _rings = rings;
        _records = rings.Records;
        _seats = new RingSeats(rings, level);
        _repair = new RingRepair(rings, _seats, level);
        _results = new RingResults(rings);
        _context = rings.Context;
        _region = rings.Region;
        Level = level;
        _timer = new Alarm(OnTimer);
        _watch = new Alarm(OnWatch);
        _clock = new RoundTimer(_context.Options) { HeardAllAt = _context.Environment.Now };
        _probes = new RingProbes(rings, _seats, _clock);
        Pauses = new RingPauses(rings, _seats, _clock, _probes, _timer, _watch);
        Hearing = new RingHearing(_context);
        Rest();
    }

    public int Level { get; }

    /// <summary>Whether this member leads, and its token is under way.</summary>
    public bool IsInFlight => _isInFlight;

    public bool IsLeader => _seats.Leader == _rings.SelfRank;

    /// <summary>The duration of the last whole round at the leader; zero before the first.</summary>
    public TimeSpan LastRoundTrip => _clock.Last;

    /// <summary>The datagrams that the kernels of all members under this ring have dropped, from its last whole round.</summary>
    public long KernelDrops => _results.KernelDrops;

    public long ReceiveBufferBytes => _results.ReceiveBufferBytes;

    public RingHearing Hearing { get; }

    public RingPauses Pauses { get; }

    private bool IsRoot => Level == _rings.Shape.Levels - 1;

    public RingResult? FindResult(NodeKey sender) => _results.Find(sender);

    public void Forget(NodeKey sender) => _results.Forget(sender);

    /// <summary>A stream continues behind its end, up to which the members under this ring hold it.</summary>
    public void Resume(ITrackedStream stream)
    {
        if (IsLeader)
        {
            _results.FindOrAdd(stream.Sender).SettleThrough(stream.Highest);
        }
    }

    /// <summary>Whether the ring above, or the sender, may still need what this member's rounds find of the stream.</summary>
    public bool MayFindMore(ITrackedStream stream) =>
        IsLeader && (_results.Find(stream.Sender) is not { } result || result.ConsumedByAll < stream.Highest);

    /// <summary>Called when packets have come, from a sender or through the ring below: a leader that rests begins a round soon.</summary>
    public void OnActivity()
    {
        if (!_isInFlight && (_waitsIdle || !_timer.IsPending) && IsLeader && !_clock.IsSteady)
        {
            _waitsIdle = false;
            _context.Environment.Schedule(_timer, _context.Options.TokenIntervalActive);
        }
    }

    /// <summary>A sender has asked for an acknowledgement: the next round begins at once, or when the present one is over.</summary>
    public void OnAckWanted()
    {
        if (!IsLeader || _clock.IsSteady)
        {
            return;
        }

        _isWanted = true;
        if (!_isInFlight)
        {
            _waitsIdle = false;
            _context.Environment.Schedule(_timer, TimeSpan.Zero);
        }
    }

    /// <summary>Sends the record of this sender around again, although everything seemed settled.</summary>
    public void Recall(NodeKey sender, bool andAcknowledge)
    {
        if (IsLeader)
        {
            var result = _results.FindOrAdd(sender);
            result.QuietRounds = 0;
            if (andAcknowledge)
            {
                result.LastAck = default;
            }

            OnActivity();
        }
    }

    public void OnMembersChanged()
    {
        _probes.Clear();
        _isInFlight = false;
        _clock.Reset();
        if (!_rings.Live.IsLive(_rounds.Leader))
        {
            _rounds = default;
        }

        _results.OnMembersChanged();
        if (IsLeader)
        {
            _waitsIdle = false;
            _context.Environment.Schedule(_timer, TimeSpan.Zero);
            _context.Environment.Cancel(_watch);
        }
    }

    /// <summary>Processes the token that was just read into the hierarchy's token.</summary>
    public DropReason OnToken(NodeKey from)
    {
        var token = _rings.Token;
        int leader = _rings.Live.RankOf(token.Leader);
        if (!_rings.Live.IsLive(leader) || !_seats.IsIn(leader))
        {
            return DropReason.NotMember;
        }

        if (leader == _rings.SelfRank)
        {
            if (!_isInFlight || token.Round != _lastLedRound)
            {
                _clock.OnLate(token.Round, _context.Environment.Now);
                return DropReason.Duplicate;
            }

            Complete(from);
            return DropReason.None;
        }

        bool isExpected = leader == _seats.Leader;
        var (now, patience) = (_context.Environment.Now, _context.Options.TokenTimeout);
        if (!_rounds.TryFollow(leader, token.Round, isExpected, from == token.Leader, now, patience))
        {
            return DropReason.Duplicate;
        }

        _sawToken = true;
        _probes.Clear();
        Visit(from);
        Pass(_seats.Successor(_rings.Token), 0);
        return DropReason.None;
    }

    public void OnProbeReply(NodeKey from) => _probes.OnReply(from);

    /// <summary>
    /// A member has reported that it closed the view. The others probably closed it too, and a member that waits for their tokens asks the
    /// next leader now: a wait for each would add up to minutes in a large view, and members remember the views that they closed only for a
    /// while.
    /// </summary>
    public void OnMemberClosed()
    {
        if (!IsLeader && _probes.Count == 0)
        {
            _sawToken = false;
            OnWatch();
        }
    }

    /// <summary>Called when a leader's probe reports that its token has not returned.</summary>
    public void OnTokenMissed(NodeKey leader) => _probes.OnTokenMissed(leader);

    /// <summary>
    /// The token of the ring above is at this member, which leads this ring: the next round here ends before it comes again. For tokens at
    /// a fixed rate.
    /// </summary>
    public void Align()
    {
        var wait = _clock.Align(_context.Environment.Now);
        if (!_isInFlight && IsLeader)
        {
            _context.Environment.Schedule(_timer, wait);
        }
    }

    public void Close()
    {
        _context.Environment.Cancel(_timer);
        _context.Environment.Cancel(_watch);
    }

    public override string ToString() =>
        $"level {Level} seats {_seats}{(IsLeader ? " leads" : "")} round {_rounds.Round} of {_rounds.Leader}"
        + $"{(_isInFlight ? " in flight" : "")}, {_clock.Timeouts} timeouts, {_unchangedRounds} unchanged, {_probes.Count} probed";

    private void OnTimer()
    {
        if (!IsLeader)
        {
            return;
        }

        if (_isInFlight)
        {
            _context.Counters.TokenTimeouts++;
            _clock.OnTimeout();
            if (_clock.Timeouts >= TimeoutsUntilProbe
                && _context.Environment.Now - _clock.HeardAllAt >= _context.Options.TokenTimeout * 7)
            {
                _probes.SendToAll();
            }
        }

        StartRound();
    }

    private void StartRound()
    {
        // The numbers continue from the last round that this member led, even if others have led since.
        _lastLedRound++;
        _rounds.Set(_rings.SelfRank, _lastLedRound);
        var token = _rings.Token;
        token.Clear();
        token.Level = Level;
        token.Round = _lastLedRound;
        token.Leader = _context.Self;
        token.KernelDrops = _rings.DropsUnder(Level);
        token.ReceiveBufferBytes = _rings.BufferUnder(Level);
        token.Gone = _rings.Live.Gone;
        token.IsSentTwice = _clock.LosesTokens;
        token.IsAnyUnheard = _rings.IsAnyUnheardUnder(Level);
        token.IsUnheardInView = IsRoot ? Hearing.IsAnyUnheard : _rings.IsUnheardAbove(Level);
        if (_probes.TrySkip(token) && _context.Environment.Now - _clock.ProbedAt >= _context.Options.TokenTimeout)
        {
            _probes.SendToAll();
        }

        // By index: an enumerator would be an object.
        for (int i = 0; i < _region.Streams.Count; i++)
        {
            var stream = _region.Streams[i];
            if (!stream.IsReliable)
            {
                continue;
            }

            var settlement = _records.SettlementOf(stream.Sender);
            var result = _results.FindOrAdd(stream.Sender);
            // The last values must reach the ring above. If the sender has departed or is not heard here, no announcement asks again, and
            // a member that accepts the last packets later cannot report it.
            bool quiet = settlement.Stable >= Math.Max(stream.Highest, settlement.HeldByAny) && stream.IsDrained && !settlement.IsGathering
                && result.ConsumedByAll >= stream.Highest;
            result.QuietRounds = quiet ? result.QuietRounds + 1 : 0;
            if (result.QuietRounds > QuietRounds)
            {
                continue;
            }

            if (IsRoot)
            {
                _records.BeginEpochIfDue(stream, settlement);
            }

            var record = token.Add(stream.Sender);
            _records.Tell(settlement, record);
            _records.Open(Level, stream, settlement, record);
        }

        _isInFlight = true;
        _clock.Begin(_lastLedRound, _context.Environment.Now);
        AlignBelow();
        int next = _seats.Successor(_rings.Token);
        if (next == _rings.SelfRank)
        {
            Complete(_context.Self);
            return;
        }

        Pass(next, (int)(_lastLedRound % int.MaxValue));
        _context.Environment.Schedule(_timer, _clock.Timeout);
    }

    // After the round or the visit has begun: it takes what the ring below has found until now.
    private void AlignBelow()
    {
        if (Level > 0 && _clock.IsSteady)
        {
            _rings.Rings[Level - 1].Align();
        }
    }

    private void Visit(NodeKey neighbour)
    {
        var token = _rings.Token;
        token.KernelDrops += _rings.DropsUnder(Level);
        token.ReceiveBufferBytes = RingHierarchy.Smaller(token.ReceiveBufferBytes, _rings.BufferUnder(Level));
        token.IsDisputed |= token.Gone != _rings.Live.Gone;
        token.IsAnyUnheard |= _rings.IsAnyUnheardUnder(Level);
        Hearing.OnVisit(token);
        AlignBelow();
        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            if (_region.FindTold(record.Sender) is not { } stream)
            {
                // The record names a sender that this member does not know, and there are more of those than can exist: this member reports
                // nothing about them.
                record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = record.Unheld.KnownThrough = 0;
                record.IsPartial = true;
                continue;
            }

            var settlement = _records.SettlementOf(record.Sender);
            if (_records.Learn(record, settlement, stream) && Level > 0)
            {
                _rings.RecallBelow(Level, record.Sender);
            }

            _repair.Compare(stream, record, neighbour);
            _records.Join(Level, stream, settlement, record);
            _records.NoteUnsettled(record, settlement, stream);
        }

        for (int i = 0; i < _region.Streams.Count; i++)
        {
            var stream = _region.Streams[i];
            if (stream.IsReliable && token.Find(stream.Sender) is null && IsUnsettled(stream))
            {
                // The leader does not know of the stream, or that this member missed the rounds that settled it: this round reports it, and
                // the next round asks all members.
                var record = token.Add(stream.Sender);
                _records.Tell(_records.SettlementOf(stream.Sender), record);
                record.HeldByAny = stream.Highest;
                record.IsPartial = true;
            }
        }

        _rings.NoteBusy(token);
        if (!_watch.IsPending)
        {
            _context.Environment.Schedule(_watch, _context.Options.TokenIntervalIdle * 3);
        }
    }

    private bool IsUnsettled(ITrackedStream stream) =>
        stream.Highest > stream.Stable || (stream.IsSenderGone && _records.SettlementOf(stream.Sender).IsGathering);

    private void Complete(NodeKey neighbour)
    {
        var token = _rings.Token;
        bool hasVisitedAll = token.Skipped.Count == 0;
        bool isWhole = hasVisitedAll && !token.IsDisputed;
        _isInFlight = false;
        Hearing.OnRound(token, IsRoot);
        _clock.End(_context.Environment.Now);
        if (neighbour != _context.Self)
        {
            _context.Counters.TokenRoundTrips.Add(Level, _clock.Last);
        }

        if (hasVisitedAll)
        {
            _probes.Clear();
            _clock.HeardAllAt = _context.Environment.Now;
        }

        if (isWhole)
        {
            _results.Take(token);
        }

        _rings.NoteBusy(token);
        bool open = !isWhole;
        bool moved = false;
        bool wantAbove = _isWanted;
        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            if (_region.FindTold(record.Sender) is not { } stream)
            {
                continue;
            }

            var settlement = _records.SettlementOf(record.Sender);
            var result = _results.FindOrAdd(record.Sender);
            _repair.Compare(stream, record, neighbour);
            RingRecords.Bound(record, stream);
            bool isNews = RingResults.Take(record, result, isWhole, _clock.Began);
            _rings.NoteResult(Level, record.Sender, result.HeldByAll);
            moved |= isNews || result.NoteDecision(record);
            var lacked = _repair.End(stream, record);
            _records.NoteUnsettled(record, settlement, stream);
            if (IsRoot)
            {
                _records.Settle(record, settlement, stream, isWhole);
                _results.Acknowledge(record, settlement, result, lacked, isWhole);
            }
            else
            {
                wantAbove |= result.NoteLacked(lacked);
                _records.Learn(record, settlement, stream);
                if (isNews)
                {
                    _rings.RecallAbove(Level, record.Sender);
                }
            }

            if (record.Stable < settlement.Stable || (record.IsGathering && !settlement.IsGathering))
            {
                // There is a new value or decision, or a member that no quiet round has reached yet: report it (again), or decide again.
                result.QuietRounds = 0;
            }

            open |= settlement.Stable < stream.Highest || settlement.IsGathering || record.ConsumedByAll < stream.Highest
                || result.QuietRounds < QuietRounds;
        }

        bool wasWanted = _isWanted;
        _isWanted = false;
        if (open)
        {
            _unchangedRounds = moved ? 0 : _unchangedRounds + 1;
            // Packets that arrive meanwhile end the wait.
            _waitsIdle = _unchangedRounds > 0;
            var interval = wasWanted ? TimeSpan.Zero : _clock.OpenInterval(_unchangedRounds, _context.Environment.Now);
            _context.Environment.Schedule(_timer, interval);
        }
        else
        {
            Rest();
        }

        if (wantAbove && !IsRoot)
        {
            _rings.WantAbove(Level);
        }
    }

    // A ring of one member has nothing to watch: it rests until there is data.
    private void Rest()
    {
        _waitsIdle = true;
        _rings.TrimStreams(Level);
        if (_rings.Live.Count > 1)
        {
            bool leads = IsLeader;
            var idle = _context.Options.TokenIntervalIdle;
            _context.Environment.Schedule(leads ? _timer : _watch, leads ? _clock.IdleInterval(_context.Environment.Now) : idle * 3);
        }
    }

    private void Pass(int rank, int rotation)
    {
        var token = _rings.Token;
        var next = _rings.Live[rank];
        if (_context.Directory.Find(next) is { } address)
        {
            token.To = next;
            var packet = _context.Scratch.FullPacket.AsSpan(0, _rings.Shared.Paths.Sizes.To(address));
            int bytes = token.Write(packet, _rings.Template, token.Count == 0 ? 0 : rotation % token.Count);
            // A copy that comes second is of a round that its receiver has seen.
            for (int copy = token.IsSentTwice ? 2 : 1; copy > 0; copy--)
            {
                _context.SendControl(packet[..bytes], address);
                _context.Counters.TokensSent++;
            }
        }
    }

    // A member that has seen no token for some idle intervals probes the leader.
    private void OnWatch()
    {
        int leader = _seats.Leader;
        if (_rings.Live.Count < 2 || leader < 0 || leader == _rings.SelfRank)
        {
            return;
        }

        _rings.TrimStreams(Level);
        if (!_sawToken)
        {
            _probes.Send(_rings.Live[leader], PacketFlags.None);
        }

        _sawToken = false;
        _context.Environment.Schedule(_watch, _context.Options.TokenIntervalIdle * 3);
    }
}
