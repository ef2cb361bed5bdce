using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Transfers;

namespace QuickSilver.Simulation.Tests.Clusters.Transfers;

// What protocols take of each other in bulk, on whole nodes.
public sealed class TransferTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(0, 0, false)]
    [InlineData(1, 0, false)]
    [InlineData(3_000_000, 0, false)]
    [InlineData(3_000_000, 0.1, false)]
    [InlineData(3_000_000, 0.1, true)]
    public void A_node_takes_all_that_another_one_has(int size, double loss, bool isSealed)
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 3, Seed = 3, Link = new LinkModel { Loss = loss }, IsSealed = isSealed });
        var nodes = Start(cluster, size);

        nodes[2].Take(nodes[1]);
        cluster.Eventually("all is taken", () => nodes[2].Ends == 1, TimeSpan.FromMinutes(5));

        Assert.Equal(nodes[1].Bytes, nodes[2].Taken.ToArray());
        Assert.Equal(size, nodes[2].Transfer!.Through);
        Assert.Empty(nodes[2].Failures);
        cluster.Eventually("the donor has closed what it gave", () => nodes[1] is { Open: 0, Given: 0 });
    }

    [Fact]
    public void Another_donor_continues_where_one_that_crashes_stopped()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 4);
        var nodes = Start(cluster, 3_000_000);

        nodes[3].Take(nodes[1], nodes[2]);
        cluster.Eventually("a third is taken", () => nodes[3].Taken.Length > 1_000_000);
        long before = nodes[3].Taken.Length;
        cluster.Nodes[1].Crash();
        cluster.Eventually("all is taken", () => nodes[3].Ends == 1, TimeSpan.FromMinutes(1));

        Assert.Equal(nodes[2].Bytes, nodes[3].Taken.ToArray());
        Assert.True(before < 3_000_000);
        Assert.Single(nodes[3].Failures);
    }

    [Fact]
    public void A_donor_gives_to_a_few_at_once_and_all_are_served()
    {
        using var cluster = new SimulatedCluster(nodes: 9, seed: 5);
        var nodes = Start(cluster, 1_000_000);
        cluster.Always("few are served at once", () => nodes[0].Given <= BulkGiver.MostAtOnce);

        foreach (var node in nodes.Skip(1))
        {
            node.Take(nodes[0]);
        }

        cluster.Eventually("all have all", () => nodes.Skip(1).All(static node => node.Ends == 1), TimeSpan.FromMinutes(2));
        Assert.All(nodes.Skip(1), node => Assert.Equal(nodes[0].Bytes, node.Taken.ToArray()));
        Assert.Contains(nodes, static node => node.Failures.Contains(TransferFailure.Busy));
    }

    [Fact]
    public void A_donor_that_lacks_it_or_cannot_read_it_is_followed_by_the_next_one()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 6);
        var nodes = Start(cluster, 100_000);
        nodes[0].Bytes = null;
        int reads = 0;
        nodes[1].OnRead = () => ++reads > 1 ? throw new IOException("The disk cannot read.") : Task.CompletedTask;

        nodes[3].Take(nodes[0], nodes[1], nodes[2]);
        cluster.Eventually("all is taken", () => nodes[3].Ends == 1);

        Assert.Equal([TransferFailure.Absent, TransferFailure.Unreadable], nodes[3].Failures);
        Assert.Equal(nodes[2].Bytes, nodes[3].Taken.ToArray());
    }

    [Fact]
    public void A_content_that_never_completes_a_read_is_given_up_by_both_sides()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 7);
        var nodes = Start(cluster, 100_000);
        nodes[0].OnRead = static () => new TaskCompletionSource().Task;

        nodes[2].Take(nodes[0], nodes[1]);
        cluster.Eventually("all is taken", () => nodes[2].Ends == 1);

        Assert.Equal([TransferFailure.Silent], nodes[2].Failures);
        cluster.Eventually("the donor has closed it", () => nodes[0] is { Open: 0, Given: 0 });
    }

    [Fact]
    public void A_taker_without_room_is_waited_for_and_loses_nothing()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 8);
        var nodes = Start(cluster, 1_000_000);
        nodes[1].Step = static () => TransferStep.Wait;

        nodes[1].Take(nodes[0]);
        while (nodes[1].Ends == 0)
        {
            long before = nodes[1].Taken.Length;
            cluster.Run(Second * 10);
            Assert.InRange(nodes[1].Taken.Length - before, 1, TransferLetters.WindowBytes + TransferLetters.ChunkBytes);
            nodes[1].Transfer!.Continue();
        }

        Assert.Empty(nodes[1].Failures);
        Assert.Equal(nodes[0].Bytes, nodes[1].Taken.ToArray());
    }

    [Fact]
    public void A_taker_that_crashes_costs_its_donor_a_place_for_seconds_only()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 9);
        var nodes = Start(cluster, 10_000_000);

        nodes[1].Take(nodes[0]);
        cluster.Eventually("something is taken", () => nodes[1].Taken.Length > 0);
        cluster.Nodes[1].Crash();

        cluster.Eventually("the donor has closed it", () => nodes[0] is { Open: 0, Given: 0 }, Second * 10);
    }

    [Fact]
    public void A_transfer_that_no_node_can_serve_is_in_the_status()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 10);
        var nodes = Start(cluster, 1_000);
        nodes[0].Bytes = null;

        nodes[1].Take(nodes[0]);
        cluster.Run(Second * 20);
        var reason = Assert.Single(cluster.Nodes[1].Node.Status.Reasons);
        Assert.Equal(StatusReasonKind.ProtocolWaits, reason.Kind);
        Assert.StartsWith("The transfer of the bytes makes no progress.", reason.Description, StringComparison.Ordinal);
        Assert.Equal("a node that has it", reason.WaitsFor);

        nodes[0].Bytes = [1, 2, 3];
        cluster.Eventually("all is taken", () => nodes[1].Ends == 1);
        cluster.Eventually("the status is well", () => cluster.Nodes[1].Node.Status.Reasons.Count == 0);
    }

    [Fact]
    public void A_cancelled_transfer_frees_the_place_of_its_donor()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 11);
        var nodes = Start(cluster, 10_000_000);

        nodes[1].Take(nodes[0]);
        cluster.Eventually("something is taken", () => nodes[1].Taken.Length > 0);
        nodes[1].Transfer!.Cancel();
        long taken = nodes[1].Taken.Length;
        cluster.Run(Second);

        Assert.Equal((0, 0), (nodes[0].Open, nodes[0].Given));
        Assert.Equal(taken, nodes[1].Taken.Length);
    }

    [Fact]
    public void A_node_ends_while_it_gives_and_while_it_takes()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 12);
        var nodes = Start(cluster, 10_000_000);

        nodes[1].Take(nodes[0]);
        nodes[2].Take(nodes[1]);
        cluster.Eventually("both give", () => nodes[0].Given == 1 && nodes[1].Given == 1);
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.DisposeAsync().AsTask());

        cluster.Eventually("nothing is given", () => nodes[0].Given == 0);
    }

    [Fact]
    public void Transfers_that_are_begun_and_cancelled_again_and_again_cost_the_donor_a_few_contents()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 14);
        var nodes = Start(cluster, 10_000_000);
        nodes[1].Step = static () => TransferStep.Wait;
        int most = 0;
        cluster.Always("few are open", () => (most = Math.Max(most, nodes[0].Open)) >= 0);

        for (int i = 0; i < 30; i++)
        {
            long before = nodes[1].Taken.Length;
            nodes[1].Take(nodes[0]);
            cluster.Eventually("a window is taken", () => nodes[1].Taken.Length - before >= TransferLetters.WindowBytes);
            nodes[1].Transfer!.Cancel();
        }

        Assert.InRange(most, 1, BulkGiver.MostAtOnce);
    }

    [Fact]
    public void A_transfer_is_not_failed_because_its_donor_cancelled_another_one()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 15);
        var nodes = Start(cluster, 10_000_000);
        var read = new TaskCompletionSource();
        nodes[0].OnRead = () => read.Task;
        nodes[0].Step = static () => TransferStep.Wait;
        nodes[0].Take(nodes[1]);
        cluster.Eventually("something is taken", () => nodes[0].Taken.Length > 0);
        nodes[1].Take(nodes[0]);
        cluster.Eventually("both give", () => nodes[0].Given == 1 && nodes[1].Given == 1);

        nodes[1].Transfer!.Cancel();
        cluster.Eventually("nothing is given", () => nodes[0].Given == 0);
        read.SetResult();
        cluster.Run(Second);

        Assert.Empty(nodes[0].Failures);
        Assert.Equal(0, nodes[0].Open);
    }

    [Fact]
    public void Malformed_letters_are_counted_and_change_nothing()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 13);
        var nodes = Start(cluster, 3_000_000);
        var options = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox) };
        var letters = cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenEndpointAsync<ReadOnlyMemory<byte>>(
            Inbox.NameOf(cluster.Nodes[1].Node.Id), TopicAccess.Publish, options));
        cluster.RunUntilCompleted(letters.WaitForSubscribersAsync(1));
        var random = new Random(1);

        nodes[1].Take(nodes[0]);
        for (int i = 0; i < 500; i++)
        {
            byte[] letter = new byte[Inbox.HeaderBytes + random.Next(40)];
            random.NextBytes(letter);
            BitConverter.TryWriteBytes(letter, ProtocolLetters.BoxOf(BulkNode.Guarantee + ".transfers"));
            if (letter.Length > Inbox.HeaderBytes)
            {
                letter[Inbox.HeaderBytes] = (byte)random.Next(8);
            }

            cluster.RunUntilCompleted(letters.PublishAsync(letter).AsTask());
        }

        cluster.Eventually("all is taken", () => nodes[1].Ends == 1);
        Assert.True(nodes[1].Malformed > 100);
        Assert.Equal(nodes[0].Bytes, nodes[1].Taken.ToArray());
    }

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 20)];

    // The first donor crashes. Others are paused, removed, or do not hear the taker.
    [Theory]
    [MemberData(nameof(Seeds))]
    public void A_node_takes_all_through_faults_of_the_donors(int seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 5,
            Seed = (ulong)seed,
            IsSealed = seed % 2 == 0,
            Faults = new FaultPlan { Kinds = FaultKinds.Common & ~FaultKinds.Crash & ~FaultKinds.Restart, Until = Second * 10 },
        });
        var nodes = Start(cluster, 2_000_000);
        var taker = nodes[0];
        // So that it lasts as long as the faults.
        foreach (var donor in nodes.Skip(1))
        {
            donor.OnRead = () => Task.Delay(Second / 5, cluster.Time);
        }

        taker.Take(nodes[1], nodes[2], nodes[3], nodes[4]);
        cluster.After(Second * (1 + (seed % 5)), () => cluster.Nodes[1].Crash(silently: seed % 3 == 0));
        cluster.RunFaults();
        cluster.Eventually($"seed {seed}: all is taken", () => taker.Ends == 1, TimeSpan.FromMinutes(2));
        Assert.NotEmpty(taker.Failures);
        Assert.Equal(nodes[1].Bytes, taker.Taken.ToArray());
        Assert.Equal(2_000_000, taker.Transfer!.Through);
    }

    private static byte[] BytesOf(int size)
    {
        byte[] bytes = new byte[size];
        new Random(size).NextBytes(bytes);
        return bytes;
    }

    // The same bytes on all nodes.
    private static BulkNode[] Start(SimulatedCluster cluster, int size)
    {
        cluster.Start();
        var nodes = BulkNode.OpenAll(cluster);
        byte[] bytes = BytesOf(size);
        foreach (var node in nodes)
        {
            node.Bytes = bytes;
        }

        return nodes;
    }
}
