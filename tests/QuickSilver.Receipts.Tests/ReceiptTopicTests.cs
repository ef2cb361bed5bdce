using QuickSilver.Simulation;

namespace QuickSilver.Receipts.Tests;

// What a family gets of its nodes, on whole nodes in virtual time: parameters, settings, letters, packets, views, counters, waits.
public sealed class ReceiptTopicTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0.2, 1)]
    [InlineData(0.2, 64)]
    public void A_publisher_learns_which_node_has_taken_which_message(double loss, int every)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, Seed = 5, Link = new LinkModel { Loss = loss } });
        cluster.Start();
        var through = new Dictionary<NodeId, long>();
        var publisher = Open(cluster, 0, every, receipt => through[receipt.Node] = receipt.Through);
        var others = Enumerable.Range(1, 3).Select(node => Subscribed(cluster, node, every)).ToList();
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(4));
        Publish(cluster, publisher, 200);

        cluster.Eventually("all have confirmed all", () => cluster.Nodes.All(node => through.GetValueOrDefault(node.Node.Id) == 200));
        Assert.All(others, taken => Assert.Equal(200, taken()));
    }

    [Fact]
    public void Packets_of_a_family_pass_where_packets_are_sealed()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 6, IsSealed = true });
        cluster.Start();
        long confirmed = 0;
        var publisher = Open(cluster, 0, every: 1_000, receipt => confirmed = receipt.Through);
        Subscribed(cluster, 1, every: 1_000);
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(2));
        // No receipt is due, so only one that is asked for comes.
        Publish(cluster, publisher, 10);

        cluster.Eventually("the receipt has come", () => confirmed == 10);
    }

    [Fact]
    public void A_node_that_subscribes_late_owes_no_receipts_of_what_was_sent_before()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 7);
        cluster.Start();
        var through = new Dictionary<NodeId, long>();
        var publisher = Open(cluster, 0, every: 1, receipt => through[receipt.Node] = receipt.Through);
        Publish(cluster, publisher, 10);
        Subscribed(cluster, 1, every: 1);
        cluster.Run(Second * 20);
        Assert.Empty(cluster.Nodes[0].Node.Status.Reasons);

        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(2));
        Publish(cluster, publisher, 1);
        cluster.Eventually("it has confirmed the next one", () => through.GetValueOrDefault(cluster.Nodes[1].Node.Id) == 11);
    }

    [Fact]
    public void Endpoints_with_other_parameters_do_not_agree()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 8);
        cluster.Start();
        Open(cluster, 0, every: 2);

        var refusal = Assert.Throws<ContractMismatchException>(() => Open(cluster, 1, every: 3));

        Assert.Contains(
            "the guarantee Receipts with the parameters every=2; this endpoint asks for the parameters every=3", refusal.Message);
    }

    [Fact]
    public void A_member_whose_receipts_do_not_come_is_named_until_it_is_gone()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3,
            Seed = 9,
            NodeOptions = new QuickSilverOptions { StallWarning = Second },
        });
        cluster.Start();
        var publisher = Open(cluster, 0, every: 1);
        Subscribed(cluster, 1, every: 1);
        Subscribed(cluster, 2, every: 1);
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(3));
        Publish(cluster, publisher, 1);
        cluster.Run(Second);
        cluster.Nodes[1].Pause();
        Publish(cluster, publisher, 1);

        cluster.Eventually("it is named", () => cluster.Nodes[0].Node.Status.Reasons.Any(reason =>
            reason.Kind == StatusReasonKind.ProtocolWaits
            && reason.Description.StartsWith(
                "The publisher of topic \"orders\" waits for receipts up to message 2", StringComparison.Ordinal)
            && reason.WaitsFor!.Contains(cluster.Nodes[1].Node.Id.ToString(), StringComparison.Ordinal)));

        cluster.Nodes[1].Crash();
        cluster.Eventually("the wait has ended", () => cluster.Nodes[0].Node.Status.Reasons.Count == 0, Second * 60);
    }

    [Fact]
    public void A_campaign_of_seeds_holds()
    {
        for (ulong seed = 1; seed <= 15; seed++)
        {
            RunSeed(seed);
        }
    }

    [Fact]
    public void A_seed_gives_the_same_run() => Assert.Equal(RunSeed(3), RunSeed(3));

    private static ulong RunSeed(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 5,
            Seed = seed,
            IsSealed = seed % 2 == 0,
            Faults = new FaultPlan { Kinds = FaultKinds.Common & ~FaultKinds.Crash & ~FaultKinds.Restart, Until = Second * 5 },
        });
        cluster.Start();
        var through = new Dictionary<NodeId, long>();
        var lies = new List<Receipt>();
        var publisher = Open(cluster, 0, every: 5, receipt =>
        {
            if (receipt.Through <= through.GetValueOrDefault(receipt.Node))
            {
                lies.Add(receipt);
            }

            through[receipt.Node] = receipt.Through;
        });
        var taken = Enumerable.Range(1, 4).ToDictionary(
            node => cluster.Nodes[node].Node.Id, node => Subscribed(cluster, node, every: 5));
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(5));
        cluster.Always("no receipt says more than was taken", () => taken.All(one => through.GetValueOrDefault(one.Key) <= one.Value()));
        cluster.Nodes[0].Post(async () =>
        {
            for (int i = 0; i < 300; i++)
            {
                await publisher.PublishAsync($"order {i}");
                await Task.Delay(TimeSpan.FromMilliseconds(20), cluster.Nodes[0].Time);
            }
        });
        cluster.RunFaults();
        cluster.Eventually(
            $"seed {seed}: members have confirmed all",
            () => taken.Keys.Where(node => cluster.Nodes.Any(one => one.IsJoined && one.Node.Id == node))
                .All(node => through.GetValueOrDefault(node) == 300),
            Second * 60);
        Assert.Empty(lies);
        return cluster.TraceHash;
    }

    private static ITopic<string> Open(SimulatedCluster cluster, int node, int every, Action<Receipt>? onReceipt = null) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenReceiptTopicAsync<string>(
            Name, new ReceiptOptions { Every = every, OnReceipt = onReceipt }));

    // Returns how to read the number of messages that were taken.
    private static Func<long> Subscribed(SimulatedCluster cluster, int node, int every)
    {
        long taken = 0;
        Open(cluster, node, every).SubscribeInline((in Message<string> message) => taken = message.Sequence);
        return () => taken;
    }

    private static void Publish(SimulatedCluster cluster, ITopic<string> topic, int messages) => cluster.RunUntilCompleted(async () =>
    {
        for (int i = 0; i < messages; i++)
        {
            await topic.PublishAsync("an order");
        }
    });
}
