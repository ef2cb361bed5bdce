using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Clusters;

// What topics do while their node is without the membership service (F3, F4; the policy for a divided network).
public sealed class QuorumTests : IDisposable
{
    private const int Nodes = 5;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // The service removes a node after a second.
    private readonly SimulatedCluster _cluster = new(new SimulationOptions
    {
        Nodes = Nodes,
        Seed = 3,
        NodeOptions = new QuickSilverOptions
        {
            Membership = { Hosted = { HeartbeatInterval = Second / 10, MissedHeartbeatLimit = 10 } },
            Limits = { PublishQueueBytes = 1 << 20 },
        },
    });

    private readonly ITopic<string>[] _must = new ITopic<string>[Nodes];
    private readonly ITopic<string>[] _free = new ITopic<string>[Nodes];
    private readonly ITopicPublisher<string>[] _limited = new ITopicPublisher<string>[Nodes];
    private readonly List<(int Node, string Message)> _received = [];
    private readonly List<GapNotice> _gaps = [];
    private readonly List<(int Node, NodeStatusChangeKind Kind)> _told = [];

    [Fact]
    public void Without_the_service_a_topic_that_requires_a_quorum_refuses_and_continues_when_it_is_back()
    {
        Start();
        Service.Crash();
        _cluster.Run(Second / 2);
        // Another server may take over: no node can have been removed yet.
        _cluster.RunUntilCompleted(_must[1].PublishAsync("before", PublishCompletion.Stable));
        _cluster.Run(Second);
        var refused = Assert.Throws<QuorumLostException>(() => { _ = _must[1].PublishAsync("during"); });
        Assert.Equal("must", refused.Topic);
        Assert.InRange(_cluster.Nodes[1].Time.GetUtcNow() - refused.Since, Second, Second * 2);
        Assert.Contains("\"must\"", refused.Message);
        Assert.Throws<QuorumLostException>(() => { _ = _must[2].PublishAsync("during", PublishCompletion.Stable); });
        _cluster.RunUntilCompleted(_free[1].PublishAsync("free", PublishCompletion.Stable));
        var status = _cluster.Nodes[1].Node.Status;
        Assert.False(status.IsReady);
        Assert.Equal((StatusReasonKind.Degraded, refused.Since), (status.Reasons[0].Kind, status.Reasons[0].Since));

        Service.Restart();
        _cluster.Eventually("all are ready", () => _cluster.Nodes.All(static node => node.Node.Status.IsReady));
        _cluster.RunUntilCompleted(_must[1].PublishAsync("after", PublishCompletion.Stable));
        _cluster.RunUntilCompleted(_must[2].PublishAsync("after", PublishCompletion.Stable));
        foreach (var node in _cluster.Nodes)
        {
            Assert.Equal(
                ["before", "free", "after", "after"], _received.Where(one => one.Node == node.Number).Select(static one => one.Message));
        }

        Assert.Empty(_gaps);
        Assert.Equal(
            Enumerable.Range(0, Nodes).SelectMany(static node => ((int, NodeStatusChangeKind)[])
                [(node, NodeStatusChangeKind.Degraded), (node, NodeStatusChangeKind.Recovered)]),
            _told.OrderBy(static one => one.Node));
    }

    [Fact]
    public void A_short_loss_of_the_service_raises_no_event_of_a_degraded_node()
    {
        Start();
        Service.Crash();
        _cluster.Run(Second / 10);
        Service.Restart();
        _cluster.Eventually("all are ready", () => _cluster.Nodes.All(static node => node.Node.Status.IsReady));
        _cluster.Run(Second * 2);
        Assert.Empty(_told);
    }

    [Fact]
    public void The_minority_refuses_the_majority_continues_and_after_healing_all_publish()
    {
        Start();
        _cluster.Network.Partition([_cluster.Service!.Value, 0, 1, 2], [3, 4]);
        _cluster.Run(Second * 1.5);
        foreach (int node in (int[])[3, 4])
        {
            Assert.Throws<QuorumLostException>(() => { _ = _must[node].PublishAsync("minority"); });
            Assert.Equal(StatusReasonKind.Degraded, _cluster.Nodes[node].Node.Status.Reasons[0].Kind);
        }

        _cluster.RunUntilCompleted(_must[0].PublishAsync("majority", PublishCompletion.Stable));
        Assert.Equal([0, 1, 2], _received.Where(static one => one.Message == "majority").Select(static one => one.Node).Order());
        Assert.True(_cluster.Nodes[0].Node.Status.IsReady);
        Assert.Equal([(3, NodeStatusChangeKind.Degraded), (4, NodeStatusChangeKind.Degraded)], _told.Order());

        _cluster.Heal();
        // The service has removed the others, which begin again.
        _cluster.Eventually("all are members", () => _cluster.Nodes.All(node => node.IsJoined && node.Node.Status.Members == Nodes));
        var topic = _cluster.RunUntilCompleted(_cluster.Nodes[4].Node.OpenPublisherAsync<string>("must"));
        _cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(Nodes));
        _cluster.RunUntilCompleted(topic.PublishAsync("healed", PublishCompletion.Stable));
        _cluster.Eventually("all have it", () => _received.Count(static one => one.Message == "healed") == Nodes);
        foreach (int node in (int[])[3, 4])
        {
            Assert.Equal(
                [NodeStatusChangeKind.Degraded, NodeStatusChangeKind.Expelled],
                _told.Where(one => one.Node == node).Select(static one => one.Kind));
        }
    }

    [Fact]
    public void A_topic_with_a_limit_accepts_messages_until_then()
    {
        Start();
        Service.Crash();
        _cluster.Run(Second * 2);
        _cluster.RunUntilCompleted(_limited[1].PublishAsync("early", PublishCompletion.Stable));
        _cluster.Run(Second * 1.5);
        Assert.Throws<QuorumLostException>(() => { _ = _limited[1].PublishAsync("late"); });
        Service.Restart();
        _cluster.Eventually("all are ready", () => _cluster.Nodes.All(static node => node.Node.Status.IsReady));
        _cluster.RunUntilCompleted(_limited[1].PublishAsync("after", PublishCompletion.Stable));
    }

    [Fact]
    public void A_publisher_that_waits_for_room_fails_and_a_feed_is_not_asked_until_the_service_is_back()
    {
        Start();
        int asked = 0;
        var feed = _must[2].AttachFeed((out string given) =>
        {
            given = "";
            asked++;
            return false;
        });
        // One that does not read anything stops the senders, and the feed with them.
        _cluster.Nodes[4].Pause();
        string message = new('x', 100_000);
        List<Task> waiting = [];
        // Messages that wait for room must wait in virtual time.
        _cluster.RunUntilCompleted(() =>
        {
            waiting.AddRange(Enumerable.Range(0, 1_000).Select(_ => _must[1].PublishAsync(message).AsTask()));
            return Task.CompletedTask;
        });
        Service.Crash();
        _cluster.Run(Second / 2);
        Assert.Contains(waiting, static task => !task.IsCompleted);
        _cluster.Run(Second);
        Assert.True(
            waiting.Exists(static task => task.IsFaulted && task.Exception!.InnerException is QuorumLostException),
            string.Join(' ', waiting.Select(static task => task.Exception?.ToString() ?? $"{task.Status}").Distinct()));
        Assert.DoesNotContain(waiting, static task => !task.IsCompleted);
        int accepted = waiting.Count(static task => task.IsCompletedSuccessfully);
        _cluster.Nodes[4].Resume();
        int before = asked;
        feed.Signal();
        _cluster.Run(Second);
        Assert.Equal(before, asked);
        Service.Restart();
        _cluster.Eventually("the feed is asked", () => asked > before);
        _cluster.Eventually("all are ready", () => _cluster.Nodes.All(static node => node.Node.Status.IsReady));
        _cluster.RunUntilCompleted(_must[1].PublishAsync("last", PublishCompletion.Stable));
        // What was accepted is delivered to all who stay.
        Assert.Equal(accepted, _received.Count(one => one.Node == 0 && one.Message == message));
        feed.Dispose();
    }

    [Fact]
    public void An_endpoint_that_is_opened_without_the_service_refuses_as_well()
    {
        Start();
        Service.Crash();
        _cluster.Run(Second * 2);
        var second = _cluster.RunUntilCompleted(
            _cluster.Nodes[0].Node.OpenPublisherAsync<string>("free", new TopicOptions { RequireQuorum = true }));
        Assert.Throws<QuorumLostException>(() => { _ = second.PublishAsync("x"); });
        _cluster.RunUntilCompleted(_free[0].PublishAsync("y", PublishCompletion.Stable));
    }

    public void Dispose() => _cluster.Dispose();

    private SimulatedMachine Service => _cluster.Machines.Nodes[_cluster.Service!.Value];

    private void Start()
    {
        _cluster.Start(async node =>
        {
            int number = node.Number;
            node.Node.StatusChanged += (_, change) => _told.Add((number, change.Kind));
            _must[number] = await node.Node.OpenTopicAsync<string>("must", new TopicOptions { RequireQuorum = true });
            _free[number] = await node.Node.OpenTopicAsync<string>("free");
            _limited[number] = await node.Node.OpenPublisherAsync<string>(
                "limited", new TopicOptions { ServiceLossLimit = Second * 3 });
            foreach (var topic in (ITopic<string>[])[_must[number], _free[number]])
            {
                topic.SubscribeInline((in Message<string> message) => _received.Add((number, message.Value)), _gaps.Add);
            }
        });
        _cluster.Eventually("all have opened their topics", () => Array.TrueForAll(_limited, static topic => topic is not null));
        _cluster.Run(Second);
        _cluster.RunUntilCompleted(Task.WhenAll(_must.Concat(_free).Select(static topic => topic.WaitForSubscribersAsync(Nodes))));
    }
}
