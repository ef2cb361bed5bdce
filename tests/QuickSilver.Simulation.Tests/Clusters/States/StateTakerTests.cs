using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Simulation.Tests.Infrastructure;
using QuickSilver.States;
using QuickSilver.Transfers;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// Members that ask for a state and do not take it. They do not keep others from it.
public sealed class StateTakerTests
{
    private const string Name = "prices";
    private const int Takers = 4;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private static SimulationOptions Options => new()
    {
        Nodes = Takers + 2,
        Seed = 3,
        NodeOptions = new QuickSilverOptions { Limits = new NodeLimits { PublishQueueBytes = 1 << 20 } },
    };

    // Those that take a piece from time to time give their places up when another one asks: the slowest one gives way.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Members_that_take_one_piece_and_then_nothing_or_little_give_their_places_back(bool areSlow)
    {
        using var cluster = new SimulatedCluster(Options);
        BeginTaking(cluster, areSlow);
        var late = cluster.RunUntilCompleted(cluster.Nodes[Takers + 1].Node.OpenStateAsync<string, string>(Name), Second * 30);
        Assert.Equal((2000, true), (late.Count, late.IsComplete));
    }

    // No node asks for their places.
    [Fact]
    public void A_transfer_to_members_that_take_nothing_more_ends()
    {
        using var cluster = new SimulatedCluster(Options);
        var state = (ReplicatedState<string, string>)BeginTaking(cluster, areSlow: false);
        Assert.Equal(Takers, state.Giving);
        cluster.Run(BulkGiver.LetterLimit + Second);
        Assert.Equal(0, state.Giving);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_member_that_answers_no_hello_does_not_keep_others_from_joining(bool isFirst)
    {
        using var cluster = new SimulatedCluster(nodes: 5, seed: 3);
        cluster.Start();
        int silent = isFirst ? 0 : 4;
        if (isFirst)
        {
            _ = new StateByHand(cluster, silent, Name) { OnMessage = static (_, _) => { } };
        }

        var first = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenStateAsync<string, string>(Name), Second * 30);
        cluster.RunUntilCompleted(() => first.SetAsync("UAL", "1").AsTask());
        if (!isFirst)
        {
            _ = new StateByHand(cluster, silent, Name) { OnMessage = static (_, _) => { } };
        }

        for (int i = 2; i < 4; i++)
        {
            var late = cluster.RunUntilCompleted(cluster.Nodes[i].Node.OpenStateAsync<string, string>(Name), Second * 30);
            Assert.Equal((1, true), (late.Count, late.IsComplete));
            cluster.Run(Second * 10);
        }

        Assert.True(first.IsComplete);
    }

    // Returns the state of the first node, which gives to the takers.
    private static IState<string, string> BeginTaking(SimulatedCluster cluster, bool areSlow)
    {
        cluster.Start();
        var state = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenStateAsync<string, string>(Name));
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 2000; i++)
            {
                await state.SetAsync($"{i}", new string('x', 8000));
            }
        });
        var takers = new List<StateByHand>();
        for (int i = 1; i <= Takers; i++)
        {
            // Its inbox has room for one message, and one is read.
            var node = cluster.Nodes[i].Node;
            var inbox = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox), ReaderCapacity = 1 };
            var letters = cluster.RunUntilCompleted(
                node.OpenEndpointAsync<ReadOnlyMemory<byte>>(Inbox.NameOf(node.Id), TopicAccess.Subscribe, inbox));
            var reading = letters.ReadAllAsync().GetAsyncEnumerator();
            cluster.Nodes[i].Post(async () =>
            {
                while (await reading.MoveNextAsync() && areSlow)
                {
                    await Task.Delay(Second / 2, cluster.Time);
                }
            });
            takers.Add(new StateByHand(cluster, i, Name));
        }

        cluster.Run(Second);
        foreach (var taker in takers)
        {
            taker.Send(new StateMessage<string, string> { Kind = StateMessageKind.Hello, Number = 2, Box = Inbox.FirstBox });
            cluster.Run(Second / 10);
            taker.Send(new StateMessage<string, string> { Kind = StateMessageKind.Ask, Node = cluster.Nodes[0].Node.Id, Number = 2 });
        }

        cluster.Run(Second);
        return state;
    }
}
