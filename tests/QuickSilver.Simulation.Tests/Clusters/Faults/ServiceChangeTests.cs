using QuickSilver.Multicast;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// The membership service ends and begins again under traffic (F4, F14; I1, I3, I7): where nothing has changed, senders and receivers do not
// notice.
public sealed class ServiceChangeTests : IDisposable
{
    private const int Nodes = 5;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Interval = Second / 200;

    private readonly SimulatedCluster _cluster = new(new SimulationOptions
    {
        Nodes = Nodes,
        StartedNodes = Nodes - 1,
        Seed = 20,
        TopicDelay = TimeSpan.Zero,
        NodeOptions = new QuickSilverOptions { Membership = { Hosted = { HeartbeatInterval = Second / 5 } } },
    });

    private readonly List<(int Receiver, int Sender, int Number, TimeSpan At)> _received = [];
    private readonly List<GapNotice> _gaps = [];
    private bool _newcomerSubscribes = true;
    private bool _isOver;

    [Fact]
    public void Views_and_streams_continue_and_no_message_waits()
    {
        Begin();
        var before = Views(Nodes - 1);
        long settled = Settled();
        ChangeService(Second);
        _cluster.Eventually("all have the configuration of the new service", () => Settled() > settled);
        Assert.Equal(before, Views(Nodes - 1));
        End();
        Assert.Equal(before, Views(Nodes - 1));
        AssertInOrder(Nodes - 1);
        Assert.InRange(LongestPause(Nodes - 1), TimeSpan.Zero, Interval * 4);
        // Packet numbers continue in the same stream.
        Assert.All(_cluster.Nodes.Take(Nodes - 1), node => Assert.All(
            Multicast(node).Regions.Single().Streams, stream => Assert.True(stream.Highest > 600, $"{stream.Highest}")));
    }

    [Fact]
    public void A_node_that_joins_while_the_service_gathers_gets_a_view_and_the_others_lose_nothing()
    {
        Begin();
        Service.Crash();
        _cluster.Run(Second);
        _cluster.Nodes[^1].Start();
        _cluster.Run(Second / 5);
        Service.Restart();
        _cluster.Eventually("the new node is a subscriber", () => Multicast(_cluster.Nodes[0]).Regions.Any(IsOfAll), Second * 10);
        _cluster.Run(Second);
        End();
        AssertInOrder(Nodes);
        Assert.InRange(LongestPause(Nodes - 1), TimeSpan.Zero, Second / 10);

        static bool IsOfAll(RegionReceiver region) => region.View.Members.Length == Nodes;
    }

    [Fact]
    public void A_node_that_publishes_from_the_gathering_on_is_heard_in_the_view_that_continues()
    {
        _newcomerSubscribes = false;
        Begin();
        var before = Views(Nodes - 1);
        _cluster.Nodes[^1].Start();
        Service.Crash();
        _cluster.Run(Second);
        Service.Restart();
        var newcomer = _cluster.Nodes[^1];
        _cluster.Eventually("the new node has joined", () => newcomer.IsJoined, Second * 10);
        var topic = _cluster.RunUntilCompleted(newcomer.Node.OpenPublisherAsync<string>("silent"));
        Assert.Equal(Nodes, _cluster.Nodes.Count(node => node.IsJoined));
        for (int i = 1; i <= 20; i++)
        {
            _cluster.RunUntilCompleted(topic.PublishAsync($"{i}", PublishCompletion.Stable));
        }

        Assert.Equal(before, Views(Nodes - 1));
        End();
        Assert.Equal(before, Views(Nodes - 1));
        foreach (var receivers in _received.Where(one => one.Sender == Nodes - 1).GroupBy(static one => one.Receiver))
        {
            Assert.Equal(Enumerable.Range(1, 20), receivers.Select(static one => one.Number));
        }

        Assert.Equal(Nodes - 1, _received.Where(one => one.Sender == Nodes - 1).Select(static one => one.Receiver).Distinct().Count());
    }

    [Fact]
    public void A_member_that_is_lost_with_the_service_costs_the_others_no_message()
    {
        Begin();
        Service.Crash();
        _cluster.Nodes[3].Crash();
        _cluster.Run(Second);
        Service.Restart();
        _cluster.Eventually("the view is without it", () => Multicast(_cluster.Nodes[0]).Regions.Any(IsOfThree), Second * 10);
        _cluster.Run(Second);
        End();
        AssertInOrder(3);

        static bool IsOfThree(RegionReceiver region) => region.View.Members.Length == 3;
    }

    [Fact]
    public void Many_changes_of_the_service_with_nodes_that_come_and_leave_lose_nothing_between_the_others()
    {
        Begin();
        for (int i = 0; i < 6; i++)
        {
            var visitor = _cluster.Nodes[^1];
            if (visitor.IsUp)
            {
                visitor.Crash();
            }
            else
            {
                visitor.Start();
            }

            _cluster.Run(Second / 10 * i);
            ChangeService(Second / 2);
            _cluster.Run(Second * 2);
        }

        End();
        AssertInOrder(Nodes - 1);
    }

    public void Dispose() => _cluster.Dispose();

    private SimulatedMachine Service => _cluster.Machines.Nodes[_cluster.Service!.Value];

    private static MulticastNode Multicast(SimulatedNode node) => (MulticastNode)node.Life!.Parts.Multicast;

    // All started nodes publish and subscribe to one topic. The last node also subscribes, when it is started.
    private void Begin()
    {
        _cluster.Start(async node =>
        {
            int number = node.Number;
            if (number == Nodes - 1 && !_newcomerSubscribes)
            {
                return;
            }

            foreach (string name in (string[])["busy", "silent"])
            {
                var topic = await node.Node.OpenSubscriberAsync<string>(name);
                topic.SubscribeInline((in Message<string> message) => Receive(number, message), _gaps.Add);
            }

            if (number < Nodes - 1)
            {
                var publisher = await node.Node.OpenPublisherAsync<string>("busy");
                await publisher.WaitForSubscribersAsync(Nodes - 1);
                for (int i = 1; !_isOver; i++)
                {
                    await publisher.PublishAsync($"{i}");
                    await Task.Delay(Interval, node.Time);
                }
            }
        });
        _cluster.Run(Second * 2);
    }

    private void Receive(int receiver, in Message<string> message) =>
        _received.Add((receiver, NumberOf(message.Sender), int.Parse(message.Value), _cluster.Now));

    private int NumberOf(NodeId sender) =>
        _cluster.Nodes.First(node => node.IsJoined && node.Node.Id == sender).Number;

    private void ChangeService(TimeSpan pause)
    {
        Service.Crash();
        _cluster.Run(pause);
        Service.Restart();
        _cluster.Run(Second * 3);
    }

    private void End()
    {
        _isOver = true;
        _cluster.Run(Second);
    }

    private long Settled() => _cluster.Nodes.Where(static node => node.IsJoined).Min(static node => Multicast(node).Topics.Settled);

    private string[] Views(int nodes) =>
    [
        .. _cluster.Nodes.Take(nodes).SelectMany(static node => Multicast(node).Regions.Where(static region => region.SupersededAt == 0)
            .Select(region => $"{node.Number}: {region.View} {region.View.Configuration} {region.SupersededAt}")),
    ];

    private void AssertInOrder(int nodes)
    {
        Assert.Empty(_gaps);
        var last = _received.Where(one => one.Sender < nodes).GroupBy(static one => one.Sender)
            .ToDictionary(static sent => sent.Key, static sent => sent.Max(static one => one.Number));
        for (int receiver = 0; receiver < Math.Min(nodes, Nodes - 1); receiver++)
        {
            for (int sender = 0; sender < Math.Min(nodes, Nodes - 1); sender++)
            {
                var numbers = _received.Where(one => one.Receiver == receiver && one.Sender == sender).Select(static one => one.Number);
                Assert.Equal(Enumerable.Range(1, last[sender]), numbers);
            }
        }
    }

    // The longest time in which a node received nothing of another.
    private TimeSpan LongestPause(int nodes) => _received.Where(one => one.Receiver < nodes && one.Sender < nodes)
        .GroupBy(static one => (one.Receiver, one.Sender))
        .Max(static times => times.Zip(times.Skip(1)).Max(static pair => pair.Second.At - pair.First.At));
}
