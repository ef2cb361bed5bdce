using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios.Readers;

// A reader that is slow and takes messages all the time holds its senders to its rate: in small steps, without a stall, and it is never
// far behind (I17, I21, I24).
public sealed class PacedReaderTests
{
    private const ulong Slow = 1;
    private const ulong Other = 2;
    private const int Capacity = 1024;
    private const int Bytes = 1_000;
    // One message each: 250 messages a second.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(4);
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(0.5);

    [Fact]
    public void The_sender_continues_at_the_readers_rate_without_a_stall_and_ends_little_ahead_of_its_buffer()
    {
        var cluster = Running(nodes: 2);
        var reader = new Buffer(cluster[1], Capacity);
        cluster[0].PublishAll(Slow, 1_000_000, Bytes);
        var seen = new Watch(cluster, reader);
        seen.Run(TimeSpan.FromSeconds(120));
        // What was in flight when the reader had no more room, at most what may be parked.
        Assert.InRange(seen.MostAhead, Capacity, Capacity + (cluster.Options.ParkedBytesOfTopic / Bytes));
        long before = cluster[0].Published.Count;
        seen.MostAhead = 0;
        seen.Run(TimeSpan.FromSeconds(20));

        Assert.InRange(cluster[0].Published.Count - before, 250 * 20 * 0.95, 250 * 20 * 1.05);
        Assert.InRange(seen.MostAhead, Capacity, Capacity + 100);
        Assert.InRange(seen.Pause, TimeSpan.Zero, LongestPause);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));
        Assert.Equal(cluster[1].Key, cluster[0].Multicast.CreditLimits.SlowestOf(Slow)?.Member);
    }

    // It takes no more than one message in a step of credit.
    [Fact]
    public void The_backlog_of_a_burst_shrinks_for_a_reader_of_five_messages_a_second()
    {
        var cluster = Running(nodes: 2);
        var reader = new Buffer(cluster[1], 64, every: 50);
        cluster[0].PublishAll(Slow, 1_000_000, Bytes);
        var seen = new Watch(cluster, reader);
        seen.Run(TimeSpan.FromSeconds(5));
        int parked = Parked();
        seen.Run(TimeSpan.FromSeconds(40));
        Assert.InRange(parked - Parked(), 5 * 40 * 0.4, 5 * 40 * 0.6);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));

        int Parked() => cluster[0].Published.Count - cluster[1].Log.Count;
    }

    [Fact]
    public void A_reader_that_stops_after_it_was_slow_is_named_on_both_sides_within_six_seconds()
    {
        var cluster = Running(nodes: 2);
        var reader = new Buffer(cluster[1], Capacity);
        cluster[0].PublishAll(Slow, 1_000_000, Bytes);
        new Watch(cluster, reader).Run(TimeSpan.FromSeconds(20));

        Assert.True(cluster.RunUntil(
            () => cluster[0].Multicast.Trouble is not null && cluster[1].Multicast.Trouble is not null, seconds: 6));
        Assert.Contains($"The publisher of topic 1 waits for a reader on node {cluster[1].Key}", cluster[0].Multicast.Trouble);
        Assert.Contains("A reader of topic 1 on this node has no room", cluster[1].Multicast.Trouble);
    }

    [Fact]
    public void A_sender_continues_although_credit_is_lost()
    {
        var cluster = Running(nodes: 2, new Simulation.LinkModel { Loss = 0.2, Duplicate = 0.2, Jitter = TimeSpan.FromMilliseconds(2) });
        var reader = new Buffer(cluster[1], Capacity);
        cluster[0].PublishAll(Slow, 1_000_000, Bytes);
        var seen = new Watch(cluster, reader);
        seen.Run(TimeSpan.FromSeconds(60));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Slow, 1, cluster[1].Log.Count);
        Assert.InRange(reader.Taken, 250 * 60 * 0.95, 250 * 60);
        // The last packet before a pause may be lost, and then only an announcement shows that it is missing.
        Assert.InRange(seen.Pause, TimeSpan.Zero, 4 * LongestPause);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));
    }

    [Fact]
    public void Two_senders_share_a_slow_reader_and_neither_waits_for_the_other()
    {
        var cluster = Running(nodes: 3);
        cluster[2].Publishes(Slow);
        cluster.Commit();
        var reader = new Buffer(cluster[1], Capacity);
        cluster[0].PublishAll(Slow, 1_000_000, Bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[2].PublishAll(Slow, 1_000_000, Bytes);
        var seen = new Watch(cluster, reader);
        seen.Run(TimeSpan.FromSeconds(20));
        int[] before = [cluster[0].Published.Count, cluster[2].Published.Count];
        seen.Run(TimeSpan.FromSeconds(60));
        Assert.All([cluster[0].Published.Count - before[0], cluster[2].Published.Count - before[1]], sent => Assert.True(sent > 60 * 30));
        Assert.InRange(seen.Pause, TimeSpan.Zero, LongestPause);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));
    }

    [Fact]
    public void The_slower_of_two_readers_sets_the_rate()
    {
        var cluster = Running(nodes: 3);
        cluster[2].Subscribes(Slow);
        cluster.Commit();
        var slow = new Buffer(cluster[1], Capacity);
        var slower = new Buffer(cluster[2], 64, every: 5);
        cluster[0].PublishAll(Slow, 1_000_000, 10_000);
        var seen = new Watch(cluster, slow, slower);
        seen.Run(TimeSpan.FromSeconds(120));
        long before = cluster[0].Published.Count;
        seen.Run(TimeSpan.FromSeconds(20));
        Assert.InRange(cluster[0].Published.Count - before, 50 * 20 * 0.9, 50 * 20 * 1.1);
        Assert.InRange(seen.Pause, TimeSpan.Zero, LongestPause);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Stalls));
    }

    // Credit costs packets, and readers that keep up must not.
    [Fact]
    public void No_credit_is_sent_while_readers_keep_up_nor_after_a_slow_one_has_caught_up()
    {
        var cluster = Running(nodes: 2);
        int credits = 0;
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            credits += new PacketHeader(datagram).Kind == PacketKind.Credit ? 1 : 0;
            return false;
        };
        cluster[0].PublishAll(Slow, 20_000, Bytes);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 20_000));
        Assert.Equal(0, credits);

        var reader = new Buffer(cluster[1], Capacity);
        cluster[0].PublishAll(Slow, 20_000, Bytes);
        new Watch(cluster, reader).Run(TimeSpan.FromSeconds(10));
        Assert.InRange(credits, 1, 200);
        reader.IsFast = true;
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 40_000));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        credits = 0;
        cluster[0].PublishAll(Slow, 20_000, Bytes);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 60_000));
        Assert.Equal((0, 0), (credits, cluster[0].Multicast.CreditLimits.Count));
    }

    private static MulticastCluster Running(int nodes, Simulation.LinkModel? link = null)
    {
        var cluster = new MulticastCluster(9, nodes, link);
        cluster[0].Publishes(Slow);
        cluster[0].Publishes(Other);
        cluster[1].Subscribes(Slow);
        cluster[1].Subscribes(Other);
        cluster.Commit();
        return cluster;
    }

    // The buffer of a reader, which says that there is room when half is free, and the reader.
    private sealed class Buffer
    {
        private readonly Host _host;
        private readonly Host.Sink _sink;
        private readonly int _capacity;
        private readonly int _every;
        private int _steps;
        private int _waiting;
        private bool _wasFull;

        public Buffer(Host host, int capacity, int every = 1)
        {
            (_host, _capacity, _every) = (host, capacity, every);
            _sink = host.SinkOf(Slow);
            _sink.OnReceived = _ => Add();
        }

        public long Taken { get; private set; }

        public bool IsFast
        {
            get;
            set
            {
                field = value;
                _sink.OnReceived = null;
                _sink.IsFull = false;
                _host.Resume(Slow);
            }
        }

        public void Step()
        {
            if (++_steps % _every != 0 || _waiting == 0)
            {
                return;
            }

            _waiting--;
            Taken++;
            _sink.IsFull = false;
            if (_wasFull && _waiting <= _capacity / 2)
            {
                _wasFull = false;
                _host.Resume(Slow);
            }
        }

        private void Add()
        {
            _sink.IsFull = ++_waiting >= _capacity;
            _wasFull |= _sink.IsFull;
        }
    }

    // How long a sender stood still, and how far it was ahead of the reader.
    private sealed class Watch(MulticastCluster cluster, params Buffer[] readers)
    {
        private readonly Dictionary<Host, (int Sent, TimeSpan At)> _last = [];
        private TimeSpan _now;

        public TimeSpan Pause { get; private set; }

        public long MostAhead { get; set; }

        public void Run(TimeSpan time)
        {
            for (var end = _now + time; _now < end; _now += Step)
            {
                cluster.Simulation.Run(Step);
                Array.ForEach(readers, reader => reader.Step());
                MostAhead = Math.Max(MostAhead, cluster.Hosts.Sum(host => host.Published.Count) - readers.Min(reader => reader.Taken));
                foreach (var sender in cluster.Hosts.Where(static host => host.Published.Count > 0))
                {
                    var last = _last.GetValueOrDefault(sender, (0, _now));
                    _last[sender] = sender.Published.Count == last.Item1 ? last : (sender.Published.Count, _now);
                    var pause = _now - last.Item2;
                    Pause = sender.Published.Count == last.Item1 && pause > Pause ? pause : Pause;
                }
            }
        }
    }
}
