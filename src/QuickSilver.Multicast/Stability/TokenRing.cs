using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Rounds;

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
// Application: there is about one token per second while nothing is open, and one in four seconds after a while; thousands while packets
// move, and fewer and fewer while what is open does not change (a slow reader, a gap that no member could fill yet). What goes wrong: a
// token is lost (a new round begins after a timeout that doubles; while that happens often, each member sends the token twice: where links
// lose 5 %, a token that is sent once comes around a ring of sixteen in 44 of 100 rounds, and one that is sent twice in 96); a member is
// silent (it is probed, then skipped, then reported to the membership service); the leader dies (members watch it, and the next live seat
// leads when the service has removed it); two members that both hear the leader do not hear each other (the leader's probes ask each
// member to check the member that sends it the token).
internal sealed class TokenRing
{
    private readonly RingHierarchy _rings;
    private readonly RingSeats _seats;
    private readonly RingResults _results;
    private readonly RoundContents _contents;
    private readonly Alarm _timer;
    private readonly Alarm _watch;
    private readonly RingProbes _probes;
    // Not readonly: both are structs that have state of their own.
    private RingLeader _leader;
    // A member of a higher rank may lead because it considers a member removed that is not removed here. When the higher one is removed
    // itself, lower ranks lead again.
    private RingMember _member;
    // Members may have been removed since the last whole round, so other members may not know that yet.
    private bool _mayBeRemoved;
    private RecordCycle _cycle = new();

    public TokenRing(RingHierarchy rings, int level)
    {
        _rings = rings;
        Level = level;
        _seats = new RingSeats(rings, level);
        _results = new RingResults(rings);
        _contents = new RoundContents(rings, new RingRepair(rings, _seats, level), _results, level);
        _timer = new Alarm(OnTimer);
        _watch = new Alarm(OnWatch);
        var clock = new RoundTimer(Context.Options) { HeardAllAt = Context.Environment.Now };
        _leader = new RingLeader(clock);
        _probes = new RingProbes(rings, _seats, clock);
        Pauses = new RingPauses(rings, _seats, clock, _probes, _timer, _watch);
        Hearing = new RingHearing(Context);
        Agreement = new RingAgreement(rings, level, level == rings.Shape.Levels - 1);
        Rest();
    }

    public int Level { get; }

    /// <summary>Whether this member leads, and its token is under way.</summary>
    public bool IsInFlight => _leader.IsInFlight;

    public bool IsLeader => _seats.Leader == _rings.SelfRank;

    /// <summary>Whether a member was probed, and has not answered.</summary>
    public bool IsAwaitingAnswer => _probes.Count > 0;

    /// <summary>The duration of the last whole round at the leader; zero before the first.</summary>
    public TimeSpan LastRoundTrip => _leader.Clock.Last;

    /// <summary>The datagrams that the kernels of all members under this ring have dropped, from its last whole round.</summary>
    public long KernelDrops => _results.KernelDrops;

    public long ReceiveBufferBytes => _results.ReceiveBufferBytes;

    public RingHearing Hearing { get; }

    public RingPauses Pauses { get; }

    public RingAgreement Agreement { get; }

    private NodeContext Context => _rings.Context;

    private bool IsRoot => Level == _rings.Shape.Levels - 1;

    private TimeSpan WatchInterval => 3 * (Hearing.IsResting ? Context.Options.TokenIntervalResting : Context.Options.TokenIntervalIdle);

    public RingResult? FindResult(StreamKey stream) => _results.Find(stream);

    public void Forget(StreamKey stream) => _results.Forget(stream);

    /// <summary>A stream continues behind its end, up to which the members under this ring hold it.</summary>
    public void Resume(ITrackedStream stream)
    {
        if (IsLeader)
        {
            _results.FindOrAdd(stream.Key).SettleThrough(stream.Highest);
        }
    }

    /// <summary>Whether the ring above, or the sender, may still need what this member's rounds find of the stream.</summary>
    public bool MayFindMore(ITrackedStream stream) =>
        IsLeader && (_results.Find(stream.Key) is not { } result || result.ConsumedByAll < stream.Highest);

    /// <summary>
    /// Called when packets have come, from a sender or through the ring below: a leader that rests begins a round soon, and others expect
    /// that.
    /// </summary>
    public void OnActivity()
    {
        if (!IsLeader)
        {
            WatchSooner();
        }
        else if (_leader.TryHurry(_timer.IsPending))
        {
            Context.Environment.Schedule(_timer, Context.Options.TokenIntervalActive);
        }
    }

    /// <summary>A sender has asked for an acknowledgement: the next round begins at once, or when the present one is over.</summary>
    public void OnAckWanted()
    {
        if (IsLeader && _leader.TryWant())
        {
            Context.Environment.Schedule(_timer, TimeSpan.Zero);
        }
    }

    /// <summary>Sends the record of this stream around again, although everything seemed settled.</summary>
    public void Recall(StreamKey stream, bool andAcknowledge)
    {
        if (IsLeader)
        {
            var result = _results.FindOrAdd(stream);
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
        bool isLeader = IsLeader;
        _probes.Clear();
        _mayBeRemoved = true;
        _leader.OnMembersChanged(isLeader);
        if (!_rings.Live.IsLive(_member.Leader))
        {
            _member.LoseLeader();
        }

        _results.OnMembersChanged();
        WatchSooner();
        if (isLeader)
        {
            Context.Environment.Schedule(_timer, TimeSpan.Zero);
            Context.Environment.Cancel(_watch);
        }
    }

    /// <summary>Processes the token that was just read into the hierarchy's token.</summary>
    public DropReason OnToken(NodeKey from)
    {
        var token = _rings.Token;
        var now = Context.Environment.Now;
        int leader = _rings.Live.RankOf(token.Leader);
        if (!_rings.Live.IsLive(leader) || !_seats.IsIn(leader))
        {
            return DropReason.NotMember;
        }

        if (leader == _rings.SelfRank)
        {
            if (!_leader.TryReturn(token.Round, now))
            {
                return DropReason.Duplicate;
            }

            Complete(from);
            return DropReason.None;
        }

        bool isExpected = leader == _seats.Leader;
        if (!_member.TryFollow(leader, token.Round, isExpected, from == token.Leader, now, Context.Options.TokenTimeout))
        {
            return DropReason.Duplicate;
        }

        _probes.Clear();
        Visit(from);
        Pass(_seats.Successor(token));
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
            _member.EndWatch();
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
        var wait = _leader.Clock.Align(Context.Environment.Now);
        if (!_leader.IsInFlight && IsLeader)
        {
            Context.Environment.Schedule(_timer, wait);
        }
    }

    public void Close()
    {
        Context.Environment.Cancel(_timer);
        Context.Environment.Cancel(_watch);
    }

    public override string ToString() =>
        $"level {Level} seats {_seats}{(IsLeader ? " leads" : "")} round {_member.Round} of {_member.Leader}"
        + $"{(IsInFlight ? " in flight" : "")}, {_leader.Clock.Timeouts} timeouts, {_leader.Unchanged} unchanged, {_probes.Count} probed";

    private void OnTimer()
    {
        if (!IsLeader)
        {
            return;
        }

        if (_leader.IsInFlight)
        {
            Context.Counters.TokenTimeouts++;
            if (_leader.Lose(Context.Environment.Now, Context.Options.TokenTimeout * 7))
            {
                _probes.SendToAll();
            }
        }

        StartRound();
    }

    private void StartRound()
    {
        // The numbers continue from the last round that this member led, even if others have led since.
        long round = _leader.Round + 1;
        _member.Lead(_rings.SelfRank, round);
        var token = _rings.Token;
        token.Clear();
        token.Level = Level;
        token.Round = round;
        token.Leader = Context.Self;
        token.KernelDrops = _rings.DropsUnder(Level);
        token.ReceiveBufferBytes = _rings.BufferUnder(Level);
        token.Gone = _rings.Live.Gone;
        token.IsSentTwice = _leader.Clock.LosesTokens;
        token.IsResting = _leader.WillRest;
        token.IsAnyUnheard = _rings.IsAnyUnheardUnder(Level);
        token.IsUnheardInView = IsRoot ? Hearing.IsAnyUnheard : _rings.IsUnheardAbove(Level);
        if (_probes.TrySkip(token) && Context.Environment.Now - _leader.Clock.ProbedAt >= Context.Options.TokenTimeout)
        {
            _probes.SendToAll();
        }

        if (_mayBeRemoved)
        {
            // A member that does not know it yet would pass the token to a member that is not there any more.
            _seats.SkipRemoved(token);
        }

        Agreement.Begin(token);
        _contents.Begin(token, _cycle);
        var timeout = _leader.Begin(Context.Environment.Now);
        AlignBelow();
        int next = _seats.Successor(token);
        if (next == _rings.SelfRank)
        {
            Complete(Context.Self);
            return;
        }

        Pass(next);
        Context.Environment.Schedule(_timer, timeout);
    }

    // After the round or the visit has begun: it takes what the ring below has found until now.
    private void AlignBelow()
    {
        if (Level > 0 && _leader.Clock.IsSteady)
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
        if (!token.IsResting)
        {
            WatchSooner();
        }

        Hearing.OnVisit(token);
        Agreement.OnVisit(token);
        AlignBelow();
        _contents.Visit(token, neighbour);
        _rings.NoteBusy(token);
        if (!_watch.IsPending)
        {
            Context.Environment.Schedule(_watch, WatchInterval);
        }
    }

    // While the ring rests, its members look for its tokens less often.
    private void WatchSooner()
    {
        if (Hearing.TryWake() && _watch.IsPending)
        {
            Context.Environment.Schedule(_watch, WatchInterval);
        }
    }

    private void Complete(NodeKey neighbour)
    {
        var token = _rings.Token;
        var now = Context.Environment.Now;
        bool hasVisitedAll = !_rings.IsAnySkipped(token);
        _leader.End(hasVisitedAll, now);
        Hearing.OnRound(token, IsRoot, !hasVisitedAll);
        if (neighbour != Context.Self)
        {
            Context.Counters.TokenRoundTrips.Add(Level, _leader.Clock.Last);
        }

        if (hasVisitedAll)
        {
            _probes.Clear();
        }

        bool isWhole = hasVisitedAll && !token.IsDisputed;
        _mayBeRemoved &= !isWhole;
        var found = _contents.End(token, neighbour, isWhole, _leader.Clock.Began, ref _cycle);
        bool hasAgreed = Agreement.OnRound(token, isWhole && !found.IsPartial);
        bool wantAbove = _leader.IsWanted || found.WantsAbove;
        if (found.IsOpen || Agreement.IsWanted)
        {
            Context.Environment.Schedule(_timer, _leader.Continue(hasAgreed ? true : found.HasMoved, Agreement.IsWanted, now));
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
        var idle = _leader.Rest(Context.Environment.Now);
        _rings.TrimStreams(Level);
        if (_rings.Live.Count > 1)
        {
            bool leads = IsLeader;
            Context.Environment.Schedule(leads ? _timer : _watch, leads ? idle : WatchInterval);
        }
    }

    private void Pass(int rank)
    {
        var token = _rings.Token;
        var next = _rings.Live[rank];
        if (Context.Directory.Find(next) is { } address)
        {
            token.To = next;
            var packet = Context.Scratch.FullPacket.AsSpan(0, _rings.Shared.Paths.Sizes.To(address));
            int bytes = token.Write(packet, _rings.Template);
            // A copy that comes second is of a round that its receiver has seen.
            for (int copy = token.IsSentTwice ? 2 : 1; copy > 0; copy--)
            {
                Context.SendControl(packet[..bytes], address);
                Context.Counters.TokensSent++;
            }
        }
    }

    // A member that has seen no token for some intervals probes the leader.
    private void OnWatch()
    {
        int leader = _seats.Leader;
        if (_rings.Live.Count < 2 || leader < 0 || leader == _rings.SelfRank)
        {
            return;
        }

        _rings.TrimStreams(Level);
        if (!_member.EndWatch())
        {
            _probes.Send(_rings.Live[leader], PacketFlags.None);
        }

        Context.Environment.Schedule(_watch, WatchInterval);
    }
}
