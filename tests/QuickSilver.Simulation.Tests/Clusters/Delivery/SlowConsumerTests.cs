namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// A consumer that takes 250 messages a second all the time, of a publisher that goes as fast as it may: whole nodes, in virtual time (I17,
// I21).
public sealed class SlowConsumerTests : IDisposable
{
    private const int Capacity = 1024;
    private static readonly TimeSpan PerMessage = TimeSpan.FromMilliseconds(4);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(nodes: 2, seed: 11);
    private long _handled;
    // The calls of PublishAsync that completed.
    private long _accepted;
    private bool _isStopped;

    private QuickSilverNode Sender => _cluster.Nodes[0].Node;

    private QuickSilverNode Receiver => _cluster.Nodes[1].Node;

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void A_steady_slow_consumer_is_a_rate_and_no_stall_and_its_publisher_never_stands_still()
    {
        Begin();
        _cluster.Run(Second * 120);
        long sent = Sender.GetCounters().Published;
        long handled = _handled;
        for (int i = 0; i < 300; i++)
        {
            long before = Sender.GetCounters().Published;
            long acceptedBefore = _accepted;
            _cluster.Run(Look * 4);
            Assert.True(Sender.GetCounters().Published > before);
            // Its callers continue in small steps too, although the queue is never nearly empty.
            Assert.True(_accepted > acceptedBefore);
            Assert.InRange(Sender.GetCounters().Published - _handled, Capacity, Capacity + 100);
        }

        Assert.InRange(Sender.GetCounters().Published - sent, (_handled - handled) * 0.95, (_handled - handled) * 1.05);
        var held = Assert.Single(Sender.Status.HeldTopics);
        Assert.Equal(("news", Receiver.Id, Receiver.Name), (held.Topic, held.Reader, held.ReaderName));
        Assert.InRange(held.MessagesPerSecond, 235, 255);
        Assert.Matches("The publisher of topic \"news\" is held to 2[0-9.]+ messages a second by a reader on node ", $"{held}");
        Assert.EndsWith($"{Receiver.Name} ({Receiver.Id}).", $"{held}");
        Assert.All(_cluster.Nodes, node => Assert.Equal((null, 0), (node.Node.Status.Reason, node.Node.GetCounters().Stalls)));
        Assert.Empty(Receiver.Status.HeldTopics);
    }

    [Fact]
    public void The_publisher_continues_from_the_beginning_and_less_is_in_flight()
    {
        Begin();
        _cluster.Run(Second);
        long ahead = Sender.GetCounters().Published - _handled;
        Assert.InRange(ahead, Capacity, Capacity + (16 << 20));
        for (int i = 0; i < 50; i++)
        {
            long before = Sender.GetCounters().Published;
            _cluster.Run(Look * 5);
            Assert.True(Sender.GetCounters().Published > before);
        }

        Assert.True(Sender.GetCounters().Published - _handled < ahead);
    }

    [Fact]
    public void A_consumer_that_stops_after_it_was_slow_is_named_on_both_nodes_within_six_seconds()
    {
        Begin();
        _cluster.Run(Second * 30);
        Assert.All(_cluster.Nodes, node => Assert.Null(node.Node.Status.Reason));
        _isStopped = true;
        _cluster.Run(Second * 6);
        Assert.Contains(
            $"The publisher of topic \"news\" waits for a reader on node {Receiver.Name} ({Receiver.Id})", Sender.Status.Reason);
        Assert.Contains(
            $"A reader of topic \"news\" on this node has no room for messages of node {Sender.Name} ({Sender.Id})",
            Receiver.Status.Reason);
        _cluster.Run(Second * 5);
        Assert.Empty(Sender.Status.HeldTopics);

        _isStopped = false;
        _cluster.Run(Second * 3);
        Assert.All(_cluster.Nodes, node => Assert.Null(node.Node.Status.Reason));
    }

    private void Begin()
    {
        _cluster.Start();
        _cluster.RunUntilCompleted(async () =>
        {
            var subscriber = await Receiver.OpenSubscriberAsync<byte[]>("news", new TopicOptions { ReaderCapacity = Capacity });
            subscriber.Subscribe(HandleAsync);
        });
        var publisher = _cluster.RunUntilCompleted(Sender.OpenPublisherAsync<byte[]>("news"));
        _cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        _cluster.Nodes[0].Post(async () =>
        {
            while (true)
            {
                await publisher.PublishAsync(new byte[1_000]);
                _accepted++;
            }
        });
    }

    private async ValueTask HandleAsync(Message<byte[]> message, CancellationToken cancellationToken)
    {
        do
        {
            await Task.Delay(PerMessage, _cluster.Time, cancellationToken);
        }
        while (_isStopped);

        _handled++;
    }
}
