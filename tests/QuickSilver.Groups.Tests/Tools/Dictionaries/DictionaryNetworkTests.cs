using System.Diagnostics.Metrics;
using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.Dictionaries;

// Dictionaries on whole nodes: in memory with threads, and on simulated machines that fail.
public sealed class DictionaryNetworkTests
{
    private const string Name = "prices";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Members_count_together_by_compare_and_set()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var three = await network.StartNodeAsync(cancellationToken: Stop);
        await using var first = await one.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        Assert.True(await first.TryAddAsync("count", "0", Stop));
        await using var second = await two.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        var counting = Task.WhenAll(CountAsync(first), CountAsync(second));
        await using var third = await three.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        await CountAsync(third).WaitAsync(Limit, Stop);
        await counting.WaitAsync(Limit, Stop);

        foreach (var dictionary in new[] { first, second, third })
        {
            await dictionary.SynchronizeAsync(Stop);
            Assert.True(dictionary.TryGetValue("count", out string? count));
            Assert.Equal("150", count);
        }
    }

    [Fact]
    public async Task The_meter_counts_operations_that_are_ignored_at_each_member()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var first = await one.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        await using var second = await two.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        const byte NoKind = 250;
        for (int i = 0; i < 3; i++)
        {
            ((GroupTool)first).Replica.Post(Operation.Create(NoKind, bodyBytes: 0), GroupOrder.Total);
        }

        await first.SynchronizeAsync(Stop);
        await second.SynchronizeAsync(Stop);
        Assert.Equal((3, 3), (IgnoredAt(one), IgnoredAt(two)));
    }

    private static long IgnoredAt(QuickSilverNode node)
    {
        long count = 0;
        using var listener = new MeterListener();
        listener.InstrumentPublished = static (instrument, own) =>
        {
            if (instrument.Name == "quicksilver.groups.tools.ignored")
            {
                own.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((_, value, tags, _) =>
        {
            foreach (var (_, tag) in tags)
            {
                count += tag is string id && id == node.Id.ToString() ? value : 0;
            }
        });
        listener.Start();
        listener.RecordObservableInstruments();
        return count;
    }

    [Fact]
    public async Task Options_and_types_are_checked()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        var wrong = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => one.OpenDictionaryAsync<string, string>(
            Name, new DictionaryOptions { MaxKeys = 0, Order = GroupOrder.Fifo }, Stop));
        Assert.Equal(
            ["The option MaxKeys is 0. Allowed: 1 to 1,000,000.", "The option Order is Fifo. Allowed: Total, Safe."], wrong.Failures);
        await Assert.ThrowsAsync<ArgumentException>(
            () => one.OpenDictionaryAsync<string, string>(Name, new DictionaryOptions<string, byte[]>(), Stop));
        await Assert.ThrowsAsync<NotSupportedException>(() => one.OpenDictionaryAsync<string, Version>(Name, cancellationToken: Stop));

        await using var first = await one.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<InvalidOperationException>(() => one.OpenDictionaryAsync<string, string>(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ContractMismatchException>(
            () => two.OpenDictionaryAsync<string, byte[]>(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ContractMismatchException>(() => two.OpenGroupAsync<string>(Name, cancellationToken: Stop));
    }

    [Fact]
    public void What_one_member_has_read_is_there_after_the_failure_of_another()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 1);
        cluster.Start();
        IReplicatedDictionary<string, string>[] members =
            [.. Enumerable.Range(0, 3).Select(node => Open(cluster, node, new DictionaryOptions { Order = GroupOrder.Safe }))];
        for (int i = 0; i < 50; i++)
        {
            int at = i % 3;
            cluster.Call(at, _ => members[at].SetAsync($"{i}", "x").AsTask());
        }

        // The oldest, which orders.
        cluster.Nodes[0].Crash();
        Assert.Equal(51, cluster.Call(1, _ => members[1].SetAsync("after", "x").AsTask()));
        cluster.Call(2, _ => members[2].SynchronizeAsync().AsTask());
        Assert.Equal(51, members[2].Count);
        Assert.Equal(members[2].GetSnapshot(), Open(cluster, 3).GetSnapshot());
    }

    [Fact]
    public void A_part_of_a_divided_cluster_that_comes_back_has_what_the_other_part_has()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 5,
            Seed = 3,
            Membership = MembershipPlacement.Embedded,
        });
        cluster.Start();
        IReplicatedDictionary<string, string>[] members = [.. Enumerable.Range(0, 5).Select(node => Open(cluster, node))];
        cluster.Call(0, _ => members[0].SetAsync("before", "x").AsTask());
        cluster.Network.Partition([0, 1, 2], [3, 4]);
        cluster.Run(TimeSpan.FromSeconds(40));
        cluster.Call(0, _ => members[0].SetAsync("side", "majority").AsTask());
        cluster.Call(4, _ => members[4].SetAsync("side", "minority").AsTask());
        cluster.Call(4, _ => members[4].SetAsync("lost", "x").AsTask());
        cluster.Heal();
        cluster.Run(TimeSpan.FromSeconds(40));

        cluster.Call(4, _ => members[4].SynchronizeAsync().AsTask());
        cluster.Eventually(
            "all have the same",
            () => members.All(one => one.GetSnapshot().Select(static item => (item.Key, item.Value))
                .SequenceEqual([("before", "x"), ("side", "majority")])),
            Limit);
        cluster.Call(3, _ => members[3].SetAsync("after", "x").AsTask());
        Assert.True(members[3].TryGetValue("after", out _));
    }

    private static async Task CountAsync(IReplicatedDictionary<string, string> dictionary)
    {
        for (int i = 0; i < 50; i++)
        {
            bool isCounted;
            do
            {
                Assert.True(dictionary.TryGetValue("count", out string? count, out long version));
                isCounted = await dictionary.TryUpdateAsync("count", $"{int.Parse(count!) + 1}", version, Stop);
            }
            while (!isCounted);
        }
    }

    private static IReplicatedDictionary<string, string> Open(SimulatedCluster cluster, int node, DictionaryOptions? options = null) =>
        cluster.Call(node, one => one.OpenDictionaryAsync<string, string>(Name, options));
}
