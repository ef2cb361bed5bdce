using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// A scheme as simple as can be: every member reports to the first that lives what it holds, and that one reports to all what all hold.
public sealed class StarTests : SchemeContract
{
    internal override MulticastOptions Options => new() { ClusterId = 7, Stability = new Star() };

    [Fact]
    public void Members_talk_to_the_first_alone_and_it_talks_to_all()
    {
        var cluster = Running(6, new LinkModel());
        var first = cluster[1].Key;
        var talked = new HashSet<(NodeKey From, bool IsToFirst)>();
        cluster.Simulation.Network.Filter = (link, packet) =>
        {
            if (new PacketHeader(packet) is { Kind: PacketKind.Token } header)
            {
                talked.Add((new NodeKey(header.Sender, header.Incarnation), link.To == cluster[1].Node));
            }

            return false;
        };
        cluster[0].PublishAll(1, 100, 300);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 100)));
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0));
        Assert.Equal(4, talked.Count);
        Assert.All(talked, one => Assert.Equal(one.From != first, one.IsToFirst));
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.TokensSent));
    }

    [Fact]
    public void When_the_sender_crashes_and_the_first_member_soon_after_the_others_agree_on_what_they_deliver()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var cluster = Running(seed, new LinkModel { Loss = 0.3 });
            cluster[0].PublishAll(1, 5_000, 500);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(2 + seed));
            var sender = cluster[0].Key;
            cluster.Simulation.Nodes[0].Crash();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            cluster.Service.Remove(sender);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(seed * 2));
            cluster.Simulation.Nodes[1].Crash();
            cluster.Service.Remove(cluster[1].Key);
            cluster.Simulation.Run(TimeSpan.FromSeconds(5));

            var first = cluster[2].SequencesOf(sender, 1).ToList();
            Assert.NotEmpty(first);
            Assert.All(cluster.Hosts.Skip(3), host => Assert.Equal(first, host.SequencesOf(sender, 1)));
            Assert.All(cluster.Hosts.Skip(2), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1));
            Assert.All(cluster.Hosts.Skip(2), host => Assert.All(host.Multicast.Regions, region => Assert.True(region.IsDrained)));
        }
    }

    private sealed class Star : IStabilityScheme
    {
        public IStabilityTracker ForRegion(SchemeContext context, ITrackedView view) => new Ray(context.Node, view);
    }

    // One member's part. The first live member is the hub: it gathers the reports of all and makes the verdict. Both are written as tokens
    // are, a verdict at level 1. The members decide in rounds what is lost of a sender that is gone; a record's epoch is the round.
    //
    // Invariants: a report and a verdict count only among members that know the same members to be gone. From its report in a round on
    // until the verdict of that round, a member takes nothing of the stream, so what it said that it lacks stays true. The hub ends a round
    // when all have reported in it, and reports the verdict until all have reported in the next, so no two members are two rounds apart.
    private sealed class Ray : IStabilityTracker
    {
        private const int IsVerdict = 1;
        private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);
        private static readonly TimeSpan RoundPause = TimeSpan.FromMilliseconds(50);

        private readonly NodeContext _context;
        private readonly ITrackedView _region;
        private readonly Alarm _alarm;
        // At the hub, by rank.
        private readonly SortedDictionary<int, Token> _reports = [];
        private readonly Dictionary<StreamKey, AggregateAck> _acks = [];
        private readonly Dictionary<StreamKey, Departure> _departures = [];

        public Ray(NodeContext context, ITrackedView region)
        {
            (_context, _region) = (context, region);
            LastUnconsumed = LastUnstable = LastHeard = context.Environment.Now;
            _alarm = new Alarm(Tick);
            context.Environment.Schedule(_alarm, Interval);
        }

        public TimeSpan LastUnconsumed { get; private set; }

        public TimeSpan LastUnstable { get; private set; }

        public TimeSpan LastHeard { get; private set; }

        private int Hub => _region.Live.FirstIn(0, _region.Live.Ranks);

        private ulong Gone => _region.Live.Gone;

        public void OnActivity(ITrackedStream stream)
        {
        }

        public void OnAckWanted()
        {
        }

        public void OnAnnounce(StreamKey stream) => _acks.Remove(stream);

        // What a live sender has sent is accepted from itself alone.
        public void Retract(StreamKey stream, long sent)
        {
        }

        public void OnMembersChanged()
        {
            _reports.Clear();
            _acks.Clear();
        }

        public DropReason OnPacket(in PacketHeader header, NodeKey from)
        {
            if (header.Kind != PacketKind.Token)
            {
                return DropReason.None;
            }

            var token = new Token();
            if (!token.TryRead(header.Body))
            {
                return DropReason.Malformed;
            }

            int rank = _region.Live.RankOf(from);
            bool isVerdict = token.Level == IsVerdict;
            if (!_region.Live.IsLive(rank) || token.Gone != Gone || Hub != (isVerdict ? rank : _region.SelfRank))
            {
                return DropReason.NotMember;
            }

            if (isVerdict)
            {
                Apply(token);
            }
            else
            {
                _reports[rank] = token;
            }

            return DropReason.None;
        }

        public void Close() => _context.Environment.Cancel(_alarm);

        private void Tick()
        {
            _context.Environment.Schedule(_alarm, Interval);
            var report = Report();
            if (Hub != _region.SelfRank)
            {
                Send(report, Hub);
                return;
            }

            _reports[_region.SelfRank] = report;
            var verdict = Verdict();
            Apply(verdict);
            for (int rank = Hub + 1; rank < _region.Live.Ranks; rank++)
            {
                // Also where it says nothing: who has closed the view answers so.
                Send(verdict, rank);
            }
        }

        private Token Report()
        {
            var report = new Token { Gone = Gone, KernelDrops = _region.Drops, ReceiveBufferBytes = _region.RoomBytes };
            foreach (var stream in _region.Streams.Where(one => one.IsReliable))
            {
                var record = report.Add(stream.Key);
                record.Stable = stream.Stable;
                record.HeldByAll = stream.Contiguous;
                record.ConsumedByAll = stream.Consumed;
                record.ReadByAll = stream.Read;
                record.ReplicatedByAll = stream.KeptContiguous;
                record.HeldByAny = stream.Highest;
                if (stream.IsSenderGone && DepartureOf(stream.Key) is var departure && !departure.IsSettled
                    && _context.Environment.Now >= departure.NextRoundAt)
                {
                    stream.BeginDecision();
                    record.Epoch = departure.Round;
                    var lacked = new SequenceRanges(RecoveryRecord.MaxRanges);
                    stream.CopyUnsupplied(uint.MaxValue, lacked);
                    UnheldPackets.Copy(lacked, record.LackedByAll);
                }
            }

            return report;
        }

        // At the hub. It says nothing while a report is missing.
        private Token Verdict()
        {
            var verdict = new Token { Level = IsVerdict, Gone = Gone, ReceiveBufferBytes = _region.RoomBytes };
            if (_reports.Count < _region.Live.Count)
            {
                return verdict;
            }

            foreach (var report in _reports.Values)
            {
                verdict.KernelDrops += report.KernelDrops;
                verdict.ReceiveBufferBytes = Math.Min(verdict.ReceiveBufferBytes, report.ReceiveBufferBytes);
                for (int i = 0; i < report.Count; i++)
                {
                    _region.FindReported(report[i].Stream);
                }
            }

            foreach (var stream in _region.Streams.Where(one => one.IsReliable))
            {
                var all = _reports.Values.Select(report => report.Find(stream.Key)).ToList();
                var record = verdict.Add(stream.Key);
                record.HeldByAll = all.Min(one => one?.HeldByAll ?? 0);
                record.ConsumedByAll = all.Min(one => one?.ConsumedByAll ?? 0);
                record.ReadByAll = all.Min(one => one?.ReadByAll ?? 0);
                record.ReplicatedByAll = all.Min(one => one?.ReplicatedByAll ?? 0);
                record.HeldByAny = all.Max(one => one?.HeldByAny ?? 0);
                record.Stable = record.HeldByAll;
                if (stream.IsSenderGone && record.HeldByAll < record.HeldByAny)
                {
                    Decide(DepartureOf(stream.Key), all, record);
                }
            }

            return verdict;
        }

        private static void Decide(Departure departure, List<RecoveryRecord?> all, RecoveryRecord record)
        {
            if (all.TrueForAll(one => one?.Epoch == departure.Round))
            {
                record.LackedByAll.Add(1, record.HeldByAny);
                all.ForEach(one => record.LackedByAll.IntersectWith(one!.LackedByAll));
                departure.Decided = departure.Round;
                UnheldPackets.Copy(record.LackedByAll, departure.Lost);
            }

            record.Epoch = departure.Decided;
            UnheldPackets.Copy(departure.Lost, record.LackedByAll);
        }

        private void Apply(Token verdict)
        {
            LastHeard = _context.Environment.Now;
            for (int i = 0; i < verdict.Count; i++)
            {
                var record = verdict[i];
                if (_region.FindReported(record.Stream) is not { } stream)
                {
                    continue;
                }

                LastUnstable = record.HeldByAll < record.HeldByAny ? LastHeard : LastUnstable;
                LastUnconsumed = record.ConsumedByAll < record.HeldByAny ? LastHeard : LastUnconsumed;
                stream.SetStable(record.HeldByAll, record.ReplicatedByAll);
                if (stream.IsSenderGone)
                {
                    stream.OnAnnounced(stream.Believable(record.HeldByAny));
                    Settle(stream, record, DepartureOf(record.Stream));
                    _region.NoteGap(stream);
                }
                else if (Hub == _region.SelfRank)
                {
                    Acknowledge(verdict, record);
                }
            }

            if (_region.IsDrained)
            {
                foreach (var stream in _region.Streams)
                {
                    stream.Trim();
                }
            }
        }

        private void Settle(ITrackedStream stream, RecoveryRecord record, Departure departure)
        {
            departure.IsSettled = record.HeldByAll >= record.HeldByAny;
            bool isDecided = stream.IsRefusing && record.Epoch == departure.Round;
            if (isDecided)
            {
                departure.Round++;
                departure.NextRoundAt = _context.Environment.Now + RoundPause;
            }

            if (isDecided || departure.IsSettled)
            {
                stream.EndDecision();
            }

            for (int i = 0; isDecided && i < record.LackedByAll.Count; i++)
            {
                stream.GiveUp(record.LackedByAll[i].First, record.LackedByAll[i].Last);
            }

            if (isDecided)
            {
                _region.AskAnew(stream);
            }

            if (departure.IsSettled && departure.FinishedThrough < stream.Highest)
            {
                departure.FinishedThrough = stream.Highest;
                stream.Finish();
            }
        }

        private void Acknowledge(Token verdict, RecoveryRecord record)
        {
            var ack = new AggregateAck(
                record.Stream.Sender,
                record.HeldByAll,
                record.ConsumedByAll,
                record.ReadByAll,
                verdict.KernelDrops,
                verdict.ReceiveBufferBytes,
                verdict.Gone);
            if (_acks.GetValueOrDefault(record.Stream) != ack && _context.Directory.Find(record.Stream.Sender) is { } address)
            {
                _acks[record.Stream] = ack;
                var packet = new byte[AggregateAck.Bytes];
                ack.Write(packet, _region.Template.Of(record.Stream.Class.Value));
                _context.SendControl(packet, address);
            }
        }

        private Departure DepartureOf(StreamKey stream)
        {
            if (!_departures.TryGetValue(stream, out var departure) || departure.Gone != Gone)
            {
                long finished = departure?.FinishedThrough ?? -1;
                _departures[stream] = departure = new Departure { Gone = Gone, FinishedThrough = finished };
            }

            return departure;
        }

        private void Send(Token token, int rank)
        {
            if (_region.Live.IsLive(rank) && _context.Directory.Find(_region.Live[rank]) is { } address)
            {
                var packet = new byte[_context.Options.PacketBytes];
                int bytes = token.Write(packet, _region.Template);
                _context.SendControl(packet.AsSpan(0, bytes), address);
            }
        }
    }

    // The rounds that decide about a sender that is gone, among the members that know the same members to be gone.
    private sealed class Departure
    {
        public ulong Gone { get; init; }

        public ulong Round { get; set; } = 1;

        public TimeSpan NextRoundAt { get; set; }

        // At the hub: the last round that was decided, and what was lost in it.
        public ulong Decided { get; set; }

        public SequenceRanges Lost { get; } = new(RecoveryRecord.MaxRanges);

        // All members hold what any knows to have been sent.
        public bool IsSettled { get; set; }

        // Those above were notified that no more will come than up to here.
        public long FinishedThrough { get; set; } = -1;
    }
}
