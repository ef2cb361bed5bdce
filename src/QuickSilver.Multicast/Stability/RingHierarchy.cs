using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Rounds;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Stability;

// The rings of one view in which a member has a seat: its ring at level 0 and, for each ring that it leads, the ring above. Results move up
// from ring to ring, and settled values move down again; no ring waits for the token of another. RingRecords processes the records of a
// token in the same way for all levels.
internal sealed class RingHierarchy : IStabilityTracker, IAgreeingView
{
    private readonly List<TokenRing> _rings = [];
    // When a token last reported that a member was not heard.
    private TimeSpan _unheardAt;

    private RingHierarchy(SchemeContext scheme, ITrackedView region)
    {
        Shared = scheme;
        Region = region;
        Shape = new RingShape(region.View.Members.Length, region.Keepers.Partitions, region.View.Repair.RingSize);
        LastUnconsumed = LastUnstable = LastHeard = Context.Environment.Now;
        Records = new RingRecords(this);
        JoinRings();
    }

    public static IStabilityScheme Scheme { get; } = new TokenRings();

    public SchemeContext Shared { get; }
    public NodeContext Context => Shared.Node;
    public ITrackedView Region { get; }
    public RingRecords Records { get; }
    public RingShape Shape { get; }
    public PacketTemplate Template => Region.Template;
    public int SelfRank => Region.SelfRank;
    public LiveMembers Live => Region.Live;
    // The token that is being processed: it is read, changed and passed on within one call.
    public Token Token => Context.Scratch.Of<Token>();

    /// <summary>At the root's leader, the total duration of the last whole rounds of all levels; zero before the first.</summary>
    public TimeSpan LastRoundTrip
    {
        get
        {
            var sum = TimeSpan.Zero;
            if (_rings.Count == Shape.Levels && _rings[^1].IsLeader)
            {
                foreach (var ring in _rings)
                {
                    sum += ring.LastRoundTrip;
                }
            }

            return sum;
        }
    }

    // When a token last reported packets that not all members have consumed.
    public TimeSpan LastUnconsumed { get; private set; }

    // When a token last reported packets that some member holds or knows of and that are not stable, or skipped a silent member.
    public TimeSpan LastUnstable { get; private set; }

    // When the last token arrived.
    public TimeSpan LastHeard { get; private set; }

    public long AgreedThrough { get; private set; }

    /// <summary>How long the rings that this node leads need to find out what all members hold.</summary>
    public AggregateClock Aggregation { get; } = new();

    // In the order of the levels.
    public IReadOnlyList<TokenRing> Rings => _rings;

    TimeSpan IStabilityTracker.LastExchange => _rings is [var ring, ..] ? ring.LastRoundTrip : TimeSpan.Zero;

    public static long Smaller(long a, long b) => a == 0 || (b != 0 && b < a) ? b : a;

    public void OnActivity(ITrackedStream stream)
    {
        if (!Aggregation.IsRunning && stream.IsReliable && _rings[0].IsLeader)
        {
            Aggregation.OnArrived(stream.Key, stream.Arrived, Context.Environment.Now);
        }

        _rings[0].OnActivity();
    }

    public void OnAckWanted() => _rings[0].OnAckWanted();

    public void OnAnnounce(StreamKey stream)
    {
        foreach (var ring in _rings)
        {
            ring.Recall(stream, andAcknowledge: true);
        }
    }

    public void OnMembersChanged()
    {
        JoinRings();
        Aggregation.Reset();
        Records.OnMembersChanged();
        foreach (var ring in _rings)
        {
            ring.OnMembersChanged();
        }
    }

    public DropReason OnPacket(in PacketHeader header, NodeKey from)
    {
        if (header.Kind == PacketKind.Token)
        {
            return OnToken(from, header.Body, isSentTwice: (header.Flags & PacketFlags.Twice) != 0);
        }

        if (header.Kind == PacketKind.ProbeReply)
        {
            OnProbeReply(from);
            if ((header.Flags & PacketFlags.Final) != 0)
            {
                OnMemberClosed();
            }
        }
        else if ((header.Flags & PacketFlags.AckWanted) != 0)
        {
            OnTokenMissed(from);
        }

        return DropReason.None;
    }

    public DropReason OnToken(NodeKey from, ReadOnlySpan<byte> body, bool isSentTwice = false)
    {
        int rank = Live.RankOf(from);
        if (!Live.IsLive(rank))
        {
            return DropReason.NotMember;
        }

        if (!Token.TryRead(body))
        {
            return DropReason.Malformed;
        }

        Token.IsSentTwice = isSentTwice;
        // The token is for an earlier incarnation at this address, or for a ring in which this node has no seat.
        if (Token.To != Context.Self || Token.Level >= _rings.Count
            || Shape.RingOf(Token.Level, rank) != Shape.RingOf(Token.Level, SelfRank))
        {
            return DropReason.NotMember;
        }

        return _rings[Token.Level].OnToken(from);
    }

    public void OnProbeReply(NodeKey from)
    {
        foreach (var ring in _rings)
        {
            ring.OnProbeReply(from);
        }
    }

    /// <summary>Called when a member has reported that it closed the view.</summary>
    public void OnMemberClosed()
    {
        foreach (var ring in _rings)
        {
            ring.OnMemberClosed();
        }
    }

    /// <summary>Called when a leader's probe reports that its token has not returned.</summary>
    public void OnTokenMissed(NodeKey leader)
    {
        foreach (var ring in _rings)
        {
            ring.OnTokenMissed(leader);
        }
    }

    public void OnPause(TimeSpan length)
    {
        foreach (var ring in _rings)
        {
            ring.Hearing.OnPause(length);
            ring.Pauses.OnPause(length, ring.IsInFlight);
        }
    }

    public void OnMemberPaused(NodeKey node)
    {
        foreach (var ring in _rings)
        {
            ring.Pauses.OnMemberPaused(node, ring.IsInFlight);
        }
    }

    public void AddNeighbours(List<NodeKey> to)
    {
        foreach (var ring in _rings)
        {
            ring.Pauses.AddNeighbours(to);
        }
    }

    public bool IsAwaitingAnswer
    {
        get
        {
            foreach (var ring in _rings)
            {
                if (ring.IsAwaitingAnswer)
                {
                    return true;
                }
            }

            return false;
        }
    }

    public bool HasPassedOn(long agreedThrough)
    {
        foreach (var ring in _rings)
        {
            if (ring.IsLeader && ring.Agreement.DistributedThrough < agreedThrough)
            {
                return false;
            }
        }

        return true;
    }

    public bool TryFinish(ITrackedStream stream, out TimeSpan settledSince)
    {
        bool isSettled = Records.TryFinish(stream, out settledSince);
        settledSince = _unheardAt > settledSince ? _unheardAt : settledSince;
        foreach (var ring in _rings)
        {
            isSettled &= !ring.MayFindMore(stream);
        }

        return isSettled;
    }

    public object? Forget(ITrackedStream stream)
    {
        foreach (var ring in _rings)
        {
            ring.Forget(stream.Key);
        }

        return Records.Forget(stream.Key);
    }

    public void Resume(ITrackedStream stream, object? kept)
    {
        Records.Resume(stream, (StreamSettlement?)kept);
        foreach (var ring in _rings)
        {
            ring.Resume(stream);
        }
    }

    public void Close()
    {
        foreach (var ring in _rings)
        {
            ring.Close();
        }
    }

    /// <summary>The rank that leads the ring, which is the first live rank under it; -1 if none is live.</summary>
    public int LeaderOf(int level, int ring)
    {
        var (first, end) = Shape.RanksOf(level, ring);
        return Live.FirstIn(first, end);
    }

    /// <summary>The rank that occupies the seat; -1 if none is live.</summary>
    public int OccupantOf(int level, int seat)
    {
        var (first, end) = Shape.RanksOfSeat(level, seat);
        return Live.FirstIn(first, end);
    }

    public long DropsUnder(int level) => level == 0 ? Region.Drops : _rings[level - 1].KernelDrops;

    public long BufferUnder(int level) => level == 0 ? Region.RoomBytes : _rings[level - 1].ReceiveBufferBytes;

    public void Retract(StreamKey stream, long sent)
    {
        var settlement = Records.SettlementOf(stream);
        settlement.HeldByAny = Math.Min(settlement.HeldByAny, sent);
        foreach (var ring in _rings)
        {
            if (ring.FindResult(stream) is { } result)
            {
                result.HeldByAny = Math.Min(result.HeldByAny, sent);
            }
        }
    }

    /// <summary>A round of the ring of this level has found that all members under it hold the stream's packets up to there.</summary>
    public void NoteResult(int level, StreamKey stream, long heldByAll)
    {
        if (Aggregation.IsRunning)
        {
            bool isHighest = level == _rings.Count - 1;
            var (now, times) = (Context.Environment.Now, Context.Counters.TimesToAggregate);
            Aggregation.OnResult(level, isHighest, stream, heldByAll, now, times);
        }
    }

    /// <summary>Whether the last round of the ring below this level, which this node leads, did not reach a member under it.</summary>
    public bool IsAnyUnheardUnder(int level) => level > 0 && _rings[level - 1].Hearing.IsAnyUnheard;

    /// <summary>
    /// Whether the ring above this level, in which this node has a seat, reports that a member of the view was not heard, or is not heard
    /// itself.
    /// </summary>
    public bool IsUnheardAbove(int level) => level + 1 < _rings.Count && _rings[level + 1].Hearing.IsUnheardInView;

    public void TrimStreams(int level)
    {
        for (int i = 0; level == 0 && i < Region.Streams.Count; i++)
        {
            Region.Streams[i].Trim();
        }
    }

    /// <summary>Called when a ring has new values: the rings below that this node leads pass them on.</summary>
    public void RecallBelow(int level, StreamKey stream)
    {
        for (int i = level - 1; i >= 0; i--)
        {
            _rings[i].Recall(stream, andAcknowledge: false);
        }
    }

    /// <summary>Called when a ring has new values for the ring above.</summary>
    public void RecallAbove(int level, StreamKey stream)
    {
        if (level + 1 < _rings.Count)
        {
            _rings[level + 1].Recall(stream, andAcknowledge: false);
        }
    }

    /// <summary>Called when a round that a sender requested is over: the ring above has new values to take.</summary>
    public void WantAbove(int level)
    {
        if (level + 1 < _rings.Count)
        {
            _rings[level + 1].OnAckWanted();
        }
    }

    long IAgreeingView.Applied => Context.Directory.Applied;

    long IAgreeingView.Wanted => Region.AgreementWanted;

    long IAgreeingView.ReportedUnder(int level) => _rings[level - 1].Agreement.ReportedThrough;

    bool IAgreeingView.AreDepartedSettled() => Records.AreDepartedSettled();

    // No member can agree on what this one has not applied.
    void IAgreeingView.AgreeThrough(long configuration) =>
        AgreedThrough = Math.Max(AgreedThrough, Math.Min(configuration, Context.Directory.Applied));

    /// <summary>Whether the token skips a member that is live here. It also skips members that have departed.</summary>
    public bool IsAnySkipped(Token token)
    {
        foreach (int rank in token.Skipped)
        {
            if (Live.IsLive(rank))
            {
                return true;
            }
        }

        return false;
    }

    public void NoteBusy(Token token)
    {
        LastHeard = Context.Environment.Now;
        if (IsAnySkipped(token) || token.IsAnyUnheard || token.IsUnheardInView)
        {
            // No member knows what the members that were not heard hold.
            LastUnstable = _unheardAt = LastHeard;
        }

        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            long highest = Math.Max(record.HeldByAny, record.KnownHeldByAny);
            if (record.IsGathering || record.Stable < highest)
            {
                LastUnconsumed = LastUnstable = LastHeard;
            }
            else if (record.ConsumedByAll < highest)
            {
                LastUnconsumed = LastHeard;
            }
        }
    }

    // The leader of a ring has a seat in the ring above. A member becomes the leader when the members before it are removed, and remains
    // the leader.
    private void JoinRings()
    {
        while (_rings.Count < Shape.Levels && (_rings.Count == 0 || _rings[^1].IsLeader))
        {
            _rings.Add(new TokenRing(this, _rings.Count));
        }
    }

    private sealed class TokenRings : IStabilityScheme
    {
        public IStabilityTracker ForRegion(SchemeContext context, ITrackedView view) => new RingHierarchy(context, view);
    }
}
