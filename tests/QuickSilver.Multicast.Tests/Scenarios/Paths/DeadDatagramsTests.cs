using Microsoft.Extensions.Logging;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Paths;

// A firewall that passes TCP only, a wrong interface, a container: the datagrams of one node vanish, all of them, those that it
// sends or those that are sent to it, while its stream to the membership service lives.
public sealed class DeadDatagramsTests
{
    private static readonly TimeSpan PublishInterval = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(10);

    public enum Fault
    {
        Both,
        In,
        Out,
    }

    public static TheoryData<Fault, int> Subscribers()
    {
        var data = new TheoryData<Fault, int>();
        foreach (var fault in Enum.GetValues<Fault>())
        {
            foreach (int subscribers in (ReadOnlySpan<int>)[1, 2, 3, 4, 6])
            {
                data.Add(fault, subscribers);
            }
        }

        return data;
    }

    [Theory]
    [MemberData(nameof(Subscribers))]
    public void A_subscriber_without_datagrams_holds_the_others_for_ten_seconds_at_most_and_is_back_ten_after(Fault fault, int subscribers)
    {
        foreach (ulong seed in SeedChoice.InTurn(6, commits: 3))
        {
            using var run = new Run(seed, subscribers);
            run.Start();
            int bad = 1 + (int)(seed % (ulong)subscribers);
            run.Cut(bad, fault);
            run.AssertServed(bad, TimeSpan.FromSeconds(90));
            Assert.Contains(run.Log, line => line.Contains("check the firewall"));
            run.Mend();
            run.AssertWhole();
        }
    }

    [Theory]
    [InlineData(Fault.Both)]
    [InlineData(Fault.In)]
    [InlineData(Fault.Out)]
    public void A_short_fault_is_over_within_ten_seconds_of_its_end(Fault fault)
    {
        foreach (ulong seed in SeedChoice.InTurn(12, commits: 3))
        {
            using var run = new Run(seed, subscribers: 3);
            run.Start();
            int bad = 1 + (int)(seed % 3);
            run.Cut(bad, fault);
            run.AssertServed(bad, TimeSpan.FromSeconds(10 + (seed * 2)));
            run.Mend();
            run.AssertWhole();
        }
    }

    [Theory]
    [InlineData(Fault.Both)]
    [InlineData(Fault.In)]
    [InlineData(Fault.Out)]
    public void When_the_publisher_has_no_datagrams_it_is_removed_and_notified_and_no_other_node_is(Fault fault)
    {
        foreach (ulong seed in SeedChoice.InTurn(6, commits: 3))
        {
            using var run = new Run(seed, subscribers: 3);
            run.Start();
            run.Cut(0, fault);
            run.Cluster.Run(Bound);
            Assert.All(run.Cluster.Nodes.Skip(1), node => Assert.Equal(1, node.Lives));
            Assert.All(run.Cluster.Nodes.Skip(1), node => Assert.Equal(3, node.KnownNodes));
            Assert.Contains(run.Log, line => line.Contains("check the firewall"));
            run.Mend();
            run.AssertWhole();
        }
    }

    // Both speak to everybody else: neither is dead, and yet their rings cannot turn.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void When_two_members_do_not_hear_each_other_one_of_them_stays_out_until_they_do(bool isBothWays)
    {
        int ended = 0;
        // All of them: whether the pair is next to each other in a ring is a matter of the seed.
        for (ulong seed = 1; seed <= 6; seed++)
        {
            using var run = new Run(seed, subscribers: 4);
            run.Start();
            run.Cluster.Network.Filter = (link, _) => Joins(link, 2, 3, isBothWays);
            run.Cluster.Run(Bound);
            // Two that do not pass the token to each other may stay, and need nothing of each other.
            int bad = run.Cluster.Nodes.FirstOrDefault(node => node.Lives > 1)?.Number ?? -1;
            Assert.True(bad is -1 or 2 or 3, $"node {bad} was removed (seed {seed})");
            ended += bad > 0 ? 1 : 0;
            run.AssertServed(bad, TimeSpan.FromSeconds(60), within: TimeSpan.Zero);
            Assert.Equal(bad < 0 ? 0 : 1, run.Removals);
            run.Mend();
            run.AssertWhole();
        }

        Assert.True(ended > 0, "the pair was never next to each other");
    }

    // A switch that restarts: no node is at fault, and none is removed for it.
    [Fact]
    public void When_all_datagrams_vanish_for_a_while_no_node_is_removed()
    {
        foreach (ulong seed in SeedChoice.InTurn(6, commits: 3))
        {
            using var run = new Run(seed, subscribers: 4);
            run.Start();
            run.Cluster.Network.Filter = (_, _) => true;
            run.Cluster.Run(TimeSpan.FromSeconds(15));
            run.Mend();
            run.Cluster.Run(TimeSpan.FromSeconds(10));
            Assert.All(run.Cluster.Nodes, node => Assert.Equal(1, node.Lives));
            run.AssertWhole();
        }
    }

    private static bool Joins(SimulatedLink link, int a, int b, bool isBothWays) =>
        (link.From.Number == a && link.To.Number == b) || (isBothWays && link.From.Number == b && link.To.Number == a);

    // A publisher that is no subscriber, and subscribers, with a service of its own.
    private sealed class Run : IDisposable
    {
        private readonly long[] _got;
        private readonly RecordingLogs _logs = new();

        public Run(ulong seed, int subscribers)
        {
            _got = new long[subscribers + 1];
            Cluster = new SimulatedCluster(new SimulationOptions
            {
                Nodes = subscribers + 1,
                Seed = seed,
                Membership = MembershipPlacement.Dedicated,
                TopicDelay = TimeSpan.Zero,
                LoggerFactory = _logs,
            });
        }

        public SimulatedCluster Cluster { get; }

        public long Published { get; private set; }

        public List<string> Log => _logs.Lines;

        public int Removals => Log.Count(line => line.Contains("is removed"));

        public void Start()
        {
            Cluster.Start(async node =>
            {
                if (node.Number != 0)
                {
                    var subscriber = await node.Node.OpenSubscriberAsync<string>("t");
                    subscriber.SubscribeInline((in m) => _got[node.Number]++);
                    return;
                }

                var topic = await node.Node.OpenPublisherAsync<string>("t");
                while (true)
                {
                    await topic.PublishAsync(new string('x', 1000));
                    Published++;
                    await Task.Delay(PublishInterval, node.Time);
                }
            });
            Cluster.Run(TimeSpan.FromSeconds(2));
        }

        public void Cut(int bad, Fault fault) => Cluster.Network.Filter = (link, _) =>
            link.From.Number != link.To.Number
            && ((fault != Fault.In && link.From.Number == bad) || (fault != Fault.Out && link.To.Number == bad));

        public void Mend() => Cluster.Network.Filter = null;

        /// <summary>From ten seconds on all others get what is published, second by second, and no other node was removed.</summary>
        public void AssertServed(int bad, TimeSpan whole, TimeSpan? within = null)
        {
            var first = within ?? Bound;
            Cluster.Run(first);
            AssertFullRate(bad, slack: 1);
            for (var passed = first; passed < whole; passed += TimeSpan.FromSeconds(1))
            {
                AssertFullRate(bad, slack: 0);
            }

            foreach (var node in Cluster.Nodes)
            {
                Assert.True(node.Number == bad || node.Lives == 1, $"{node} was removed too (seed {Cluster.Options.Seed})");
            }
        }

        // Within a second: as many come as are published, and these are as many as the publisher's pace is.
        private void AssertFullRate(int bad, int slack)
        {
            long[] before = [.. _got];
            long publishedBefore = Published;
            Cluster.Run(TimeSpan.FromSeconds(1));
            double expected = TimeSpan.FromSeconds(1) / PublishInterval * (slack == 0 ? 0.95 : 0.9);
            Assert.True(
                Published - publishedBefore >= expected,
                $"{Published - publishedBefore} published in a second at {Cluster.Now} (seed {Cluster.Options.Seed})"
                + $"{Environment.NewLine}{Tail()}");
            for (int number = 1; number < _got.Length; number++)
            {
                Assert.True(
                    number == bad || _got[number] - before[number] >= expected,
                    $"node {number} got {_got[number] - before[number]} in a second at {Cluster.Now} (seed {Cluster.Options.Seed})"
                    + $"{Environment.NewLine}{Tail()}");
            }
        }

        /// <summary>Within ten seconds everybody is in one cluster again and gets what is published.</summary>
        public void AssertWhole()
        {
            Cluster.Eventually(
                $"all are members again{Environment.NewLine}{Tail()}",
                () => Cluster.Nodes.All(node => node.KnownNodes == Cluster.Nodes.Count),
                Bound);
            Cluster.Run(TimeSpan.FromSeconds(1));
            AssertFullRate(bad: -1, slack: 0);
        }

        public void Dispose() => Cluster.Dispose();

        private string Tail() => string.Join(Environment.NewLine, Log.TakeLast(30));
    }

    private sealed class RecordingLogs : ILoggerFactory, ILogger
    {
        public List<string> Lines { get; } = [];

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Lines.Add(formatter(state, exception));

        public void Dispose()
        {
        }
    }
}
