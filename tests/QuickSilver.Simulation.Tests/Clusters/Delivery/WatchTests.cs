using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// An observer watches a cluster of whole nodes: what the nodes report about themselves.
public sealed class WatchTests : IDisposable
{
    private const int Nodes = 5;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(new SimulationOptions
    {
        Nodes = Nodes,
        Membership = MembershipPlacement.Dedicated,
        NodeOptions = new QuickSilverOptions { StallWarning = Second },
    });

    [Fact]
    public void Every_node_reports_its_rates_levels_regions_and_topics()
    {
        var observer = Start();
        var topic = _cluster.RunUntilCompleted(_cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
        foreach (var node in _cluster.Nodes.Skip(1))
        {
            _cluster.RunUntilCompleted(node.Node.OpenSubscriberAsync<string>("news")).SubscribeInline((in Message<string> _) => { });
        }

        _cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(Nodes));
        observer.Ask(_cluster);
        Assert.All(observer.Last.Nodes, node => Assert.Equal(0, node.Signs!.SpanMillis));
        for (int i = 0; i < 100; i++)
        {
            _cluster.RunUntilCompleted(topic.PublishAsync($"{i}", PublishCompletion.Stable));
            _cluster.Run(Second / 100);
        }

        observer.Ask(_cluster);
        Assert.Equal(Nodes, observer.Last.Service.Reported);
        var signs = observer.Last.Nodes.Select(node => node.Signs!).ToList();
        var publisher = Assert.Single(signs, one => one.Published > 0);
        double seconds = publisher.SpanMillis / 1e3;
        Assert.Equal(100, publisher.Published * seconds, 100 * 0.05);
        Assert.All(signs.Where(one => one != publisher), one => Assert.Equal(100, one.Delivered * seconds, 100 * 0.05));
        Assert.True(publisher.AckMedian > 0);
        Assert.All(signs, one => Assert.Equal((1, 1, 1), (one.Topics, one.Views, one.Regions)));
        Assert.Single(signs, one => one.TokenMedian > 0 && one.AggregateMedian > 0);

        var region = Assert.Single(publisher.RegionRows);
        Assert.Equal((Nodes, 1), (region.Members, region.OpenViews));
        Assert.True(region is { SentPackets: > 0, AckMicros: > 0, PendingPackets: 0 });
        Assert.All(signs, one => Assert.Equal(region.RegionId, Assert.Single(one.RegionRows).RegionId));
        var row = Assert.Single(publisher.TopicRows);
        Assert.Equal(("news", Nodes), (row.Name, row.Subscribers));
        Assert.Equal(100, row.Published * seconds, 100 * 0.05);
        Assert.All(
            signs.Where(one => one != publisher), one => Assert.Equal(100, Assert.Single(one.TopicRows).Delivered * seconds, 100 * 0.05));
    }

    [Fact]
    public void The_busiest_topics_are_reported_and_all_are_counted()
    {
        var observer = Start();
        var node = _cluster.Nodes[0].Node;
        var topics = Enumerable.Range(0, 20).Select(i => _cluster.RunUntilCompleted(node.OpenTopicAsync<string>($"t{i}"))).ToList();
        observer.Ask(_cluster, rows: 2);
        foreach (int i in (int[])[7, 7, 13, 7])
        {
            _cluster.RunUntilCompleted(topics[i].PublishAsync("x", PublishCompletion.Stable));
        }

        _cluster.Run(Second / 10);
        observer.Ask(_cluster, rows: 2);
        var signs = observer.Last.Nodes.Select(report => report.Signs!).Single(one => one.Topics == 20);
        Assert.Equal(["t7", "t13"], signs.TopicRows.Select(row => row.Name));
    }

    [Fact]
    public void A_publisher_that_a_slow_reader_holds_reports_the_rate_and_the_node_of_the_reader()
    {
        var observer = Start();
        var (sender, receiver) = (_cluster.Nodes[0], _cluster.Nodes[1]);
        var subscriber = _cluster.RunUntilCompleted(
            receiver.Node.OpenSubscriberAsync<byte[]>("prices", new TopicOptions { ReaderCapacity = 16 }));
        subscriber.Subscribe(async (_, stop) => await Task.Delay(Second / 50, receiver.Time, stop));
        var publisher = _cluster.RunUntilCompleted(sender.Node.OpenPublisherAsync<byte[]>("prices"));
        _cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        sender.Post(async () =>
        {
            while (true)
            {
                await publisher.PublishAsync(new byte[1_000]);
            }
        });
        _cluster.Eventually("the publisher is held", () => sender.Node.Status.HeldTopics.Count > 0);
        _cluster.Run(Second * 30);
        observer.Ask(_cluster);
        var held = Assert.Single(observer.Last.Nodes.SelectMany(static report => report.Signs!.HeldRows));
        Assert.Equal(("prices", receiver.Node.Name), (held.Topic, held.Reader));
        Assert.InRange(held.PerThousandSeconds, 40_000, 60_000);
    }

    [Fact]
    public void A_node_that_stands_still_is_silent_and_the_others_report()
    {
        var observer = Start();
        _cluster.Nodes[3].Pause();
        observer.Ask(_cluster);
        _cluster.Run(Second * 3);
        observer.Ask(_cluster);
        var silent = Assert.Single(observer.Last.Nodes, node => node.Node.Outcome == SnapshotOutcome.Silent);
        Assert.InRange(silent.Node.SilentMillis, 4_000, 6_000);
        Assert.Equal(Nodes - 1, observer.Last.Nodes.Count(node => node.Signs is not null));
    }

    [Fact]
    public void A_node_whose_topic_waits_says_what_it_waits_for_and_what_limits_it()
    {
        var observer = Start();
        var topic = _cluster.RunUntilCompleted(_cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
        _cluster.RunUntilCompleted(_cluster.Nodes[1].Node.OpenSubscriberAsync<string>("news"));
        _cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(2));
        _cluster.Nodes[1].Pause();
        // More than the window, the queue and the lane have room for together.
        string message = new('x', 50_000);
        var publishing = Enumerable.Range(0, 1_000).Select(_ => topic.PublishAsync(message).AsTask()).ToList();

        // Longer than the stall limit takes to be noticed, and less than the service waits for a silent member.
        _cluster.Run(Second * 1.8);
        Assert.Contains(publishing, task => !task.IsCompleted);
        observer.Ask(_cluster);
        var signs = observer.Last.Nodes.Select(node => node.Signs).Single(one => one is { Topics: 1 })!;
        Assert.Equal((SendLimit.Window, 1_000), ((SendLimit)signs.Limit, signs.LimitPerMille));
        Assert.Contains("not all 2 members are known to hold packet", signs.Trouble);
        string other = $"{_cluster.Nodes[1].Node.Id}";
        Assert.Matches($"waits for the acknowledgement of node [^:]*{other}", signs.Trouble);
        var reason = signs.ReasonRows[0];
        Assert.Equal(StatusReasonKind.AcknowledgementMissing, (StatusReasonKind)reason.Kind);
        Assert.Contains(other, reason.WaitsFor);
        Assert.InRange(reason.SinceMillis, 1, 1_800);
        Assert.True(signs.PendingPackets > 50);
        Assert.InRange(signs.QueueMessages, 1, 1_000);
    }

    public void Dispose() => _cluster.Dispose();

    private Observer Start()
    {
        var observer = new Observer(_cluster);
        _cluster.Start();
        return observer;
    }

    private sealed class Observer : IClusterSnapshotReader
    {
        private readonly ClusterObserver _observer;
        private readonly List<ClusterSnapshot> _answers = [];

        public Observer(SimulatedCluster cluster)
        {
            Machine = cluster.Machines.AddService();
            string name = new QuickSilverOptions().Cluster;
            _observer = new ClusterObserver(
                Machine.Environment, cluster.Services, name, new DiscoveryOptions(), this, NullLogger.Instance);
        }

        public SimulatedMachine Machine { get; }

        public ClusterSnapshot Last => _answers[^1];

        public void Ask(SimulatedCluster cluster, int rows = 10)
        {
            int before = _answers.Count;
            Machine.Environment.Post(new Core.Requests.ActionRequest(() => _observer.Ask(rows)));
            for (int i = 0; i < 300 && _answers.Count == before; i++)
            {
                cluster.Run(Second / 100);
            }

            Assert.True(_answers.Count > before, "No answer came.");
        }

        public void OnAnswer(ClusterSnapshot signs) => _answers.Add(signs);

        public void OnEnded(string reason, bool isRefusal) => Assert.Fail(reason);
    }
}
