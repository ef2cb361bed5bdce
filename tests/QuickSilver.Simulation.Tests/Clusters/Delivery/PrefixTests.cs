using FsCheck;
using FsCheck.Fluent;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// Topics whose names begin alike, subscribed as one by whole nodes, in virtual time.
public sealed class PrefixTests
{
    private const string Prefix = "prices/";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly List<(string Topic, string Value)> _got = [];
    private readonly List<PrefixTopic> _told = [];

    [Fact]
    public void Topics_that_are_there_and_topics_to_come_are_subscribed()
    {
        using var cluster = Started(3);
        var early = Open(cluster, 0, "prices/a");
        var other = Open(cluster, 0, "news");
        var prefix = OpenPrefix(cluster, 1);
        Assert.Equal([new PrefixTopic("prices/a", PrefixTopicState.Open, null)], prefix.Topics);
        var late = Open(cluster, 2, "prices/b");
        cluster.Eventually("the later topic is subscribed", () => late.Subscribers == 1);
        cluster.RunUntilCompleted(async () =>
        {
            await early.PublishAsync("1");
            await other.PublishAsync("2");
            await late.PublishAsync("3");
        });
        cluster.Run(Second);
        Assert.Equal([("prices/a", "1"), ("prices/b", "3")], _got.Order());
        Assert.Equal(0, other.Subscribers);
    }

    [Fact]
    public void Messages_of_a_topic_come_in_order_while_others_come_and_go()
    {
        using var cluster = Started(3);
        OpenPrefix(cluster, 0, new PrefixOptions<string> { KeepOpen = Second });
        var steady = Open(cluster, 1, "prices/steady");
        cluster.Eventually("it is subscribed", () => steady.Subscribers == 1);
        cluster.RunUntilCompleted(
            async () =>
            {
                for (int round = 0; round < 20; round++)
                {
                    await using var brief = await cluster.Nodes[2].Node.OpenPublisherAsync<string>($"prices/{round % 3}");
                    await brief.WaitForSubscribersAsync(1);
                    for (int i = 0; i < 20; i++)
                    {
                        await steady.PublishAsync($"{(round * 20) + i}");
                        await brief.PublishAsync($"{(round * 20) + i}");
                    }
                }
            },
            Second * 120);
        cluster.Run(Second * 3);
        foreach (string topic in (string[])["prices/steady", "prices/0", "prices/1", "prices/2"])
        {
            var values = _got.Where(one => one.Topic == topic).Select(static one => int.Parse(one.Value)).ToList();
            Assert.Equal(values.Order(), values);
        }

        Assert.Equal(400, _got.Count(static one => one.Topic == "prices/steady"));
        Assert.Equal(400, _got.Count(static one => one.Topic != "prices/steady"));
    }

    [Fact]
    public void A_topic_without_publishers_is_closed_after_a_while_and_comes_again()
    {
        using var cluster = Started(2);
        var prefix = OpenPrefix(cluster, 0, new PrefixOptions<string> { KeepOpen = Second * 5 });
        var topic = Open(cluster, 1, "prices/a");
        cluster.Eventually("it is subscribed", () => topic.Subscribers == 1);
        cluster.RunUntilCompleted(async () => await topic.DisposeAsync());
        cluster.Run(Second * 3);
        Assert.Equal(PrefixTopicState.Open, Assert.Single(prefix.Topics).State);
        cluster.Run(Second * 4);
        Assert.Empty(prefix.Topics);
        Assert.Equal(
            [PrefixTopicState.Opening, PrefixTopicState.Open, PrefixTopicState.Closed], _told.Select(static topic => topic.State));
        var again = Open(cluster, 1, "prices/a");
        cluster.Eventually("it is subscribed again", () => again.Subscribers == 1);
        cluster.RunUntilCompleted(async () => await again.PublishAsync("again"));
        cluster.Run(Second);
        Assert.Equal([("prices/a", "again")], _got);
    }

    [Fact]
    public void A_topic_of_another_type_is_reported_and_the_others_continue()
    {
        using var cluster = Started(2);
        var good = Open(cluster, 1, "prices/good");
        var bytes = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenPublisherAsync<byte[]>("prices/bytes"));
        var prefix = OpenPrefix(cluster, 0);
        var refused = prefix.Topics.Single(static topic => topic.Name == "prices/bytes");
        Assert.Equal(PrefixTopicState.Refused, refused.State);
        Assert.Contains("prices/bytes", Assert.IsType<ContractMismatchException>(refused.Error).Message);
        cluster.RunUntilCompleted(async () => await good.PublishAsync("1"));
        cluster.Run(Second);
        Assert.Equal([("prices/good", "1")], _got);
        cluster.RunUntilCompleted(async () => await bytes.DisposeAsync());
        cluster.Eventually("it is gone", () => prefix.Topics.Count == 1);
        var text = Open(cluster, 1, "prices/bytes");
        cluster.Eventually("it is tried again", () => text.Subscribers == 1);
    }

    [Fact]
    public void More_topics_than_allowed_are_counted_and_follow_when_others_go()
    {
        using var cluster = Started(2);
        var topics = Enumerable.Range(0, 5).Select(i => Open(cluster, 1, $"prices/{i}")).ToList();
        var prefix = OpenPrefix(cluster, 0, new PrefixOptions<string> { MaxTopics = 3, KeepOpen = Second * 30 });
        Assert.Equal((3, 2), (prefix.Topics.Count, prefix.Beyond));
        var gone = topics.First(topic => topic.Name == prefix.Topics[0].Name);
        cluster.RunUntilCompleted(async () => await gone.DisposeAsync());
        cluster.Eventually("another one follows", () => prefix.Beyond == 1 && prefix.Topics.All(topic => topic.Name != gone.Name));
        cluster.Eventually("it is open", () => prefix.Topics.Count(static topic => topic.State == PrefixTopicState.Open) == 3);
        cluster.Always("never more", () => prefix.Topics.Count <= 3);
        cluster.Run(Second);
    }

    [Theory]
    [InlineData(MembershipPlacement.Dedicated)]
    [InlineData(MembershipPlacement.Embedded)]
    public void When_the_service_changes_topics_stay_and_new_ones_come(MembershipPlacement membership)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, Seed = 9, Membership = membership });
        cluster.Start();
        var host = cluster.Machines.Nodes.Single(machine => machine.Life!.Endpoints.IsListening);
        int[] others = [.. Enumerable.Range(0, cluster.Nodes.Count).Where(node => node != host.Number)];
        var prefix = OpenPrefix(cluster, others[0]);
        var before = Open(cluster, others[1], "prices/before");
        cluster.Eventually("it is subscribed", () => before.Subscribers == 1);
        host.Crash();
        cluster.Run(Second);
        var opening = cluster.Nodes[others[1]].Node.OpenPublisherAsync<string>("prices/after");
        if (host.IsService)
        {
            host.Restart();
        }

        var after = cluster.RunUntilCompleted(opening, Second * 120);
        cluster.Eventually("the new one is subscribed", () => after.Subscribers == 1, Second * 120);
        cluster.RunUntilCompleted(async () =>
        {
            await before.PublishAsync("1");
            await after.PublishAsync("2");
        });
        cluster.Run(Second);
        Assert.Equal([("prices/after", "2"), ("prices/before", "1")], _got.Order());
        Assert.DoesNotContain(_told, static topic => topic.State == PrefixTopicState.Closed);
        Assert.Equal(2, prefix.Topics.Count);
    }

    [Fact]
    public void A_publisher_that_is_killed_takes_its_topics_with_it()
    {
        using var cluster = Started(3);
        var prefix = OpenPrefix(cluster, 0, new PrefixOptions<string> { KeepOpen = Second });
        Open(cluster, 2, "prices/a");
        cluster.Eventually("it is subscribed", () => prefix.Topics.Any(static topic => topic.State == PrefixTopicState.Open));
        cluster.Nodes[2].Crash(silently: true);
        cluster.Eventually("it is closed", () => prefix.Topics.Count == 0, Second * 60);
    }

    [Fact]
    public void Disposing_closes_all_and_a_disposed_node_ends_it()
    {
        using var cluster = Started(2);
        var topic = Open(cluster, 1, "prices/a");
        var prefix = OpenPrefix(cluster, 0);
        cluster.Eventually("it is subscribed", () => topic.Subscribers == 1);
        cluster.RunUntilCompleted(async () => await prefix.DisposeAsync());
        Assert.Equal(SubscriptionEndReason.Disposed, cluster.RunUntilCompleted(prefix.Completion).Reason);
        cluster.Eventually("no node subscribes", () => topic.Subscribers == 0);
        var second = OpenPrefix(cluster, 0);
        cluster.RunUntilCompleted(async () => await cluster.Nodes[0].Node.DisposeAsync());
        cluster.Eventually("it has ended", () => second.Completion.IsCompleted);
        Assert.Equal(SubscriptionEndReason.NodeStopped, cluster.RunUntilCompleted(second.Completion).Reason);
    }

    [Fact]
    public void A_handler_that_fails_ends_its_topic_alone()
    {
        using var cluster = Started(2);
        var bad = Open(cluster, 1, "prices/bad");
        var good = Open(cluster, 1, "prices/good");
        var options = new PrefixOptions<string> { Consumer = new ConsumerOptions<string> { OnError = ConsumerErrors.Stop } };
        var prefix = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPrefixAsync<string>(
            Prefix,
            (topic, message, _) =>
            {
                _got.Add((topic, message.Value));
                return topic == "prices/bad" ? throw new FormatException() : ValueTask.CompletedTask;
            },
            options));
        cluster.RunUntilCompleted(async () => await bad.PublishAsync("1"));
        cluster.Eventually("it has ended", () => prefix.Topics.Any(static topic => topic.State == PrefixTopicState.Ended));
        Assert.IsType<ConsumerFailedException>(prefix.Topics.Single(static topic => topic.Name == "prices/bad").Error);
        cluster.Eventually("no node subscribes", () => bad.Subscribers == 0);
        cluster.RunUntilCompleted(async () => await good.PublishAsync("2"));
        cluster.Run(Second);
        Assert.Equal([("prices/bad", "1"), ("prices/good", "2")], _got);
    }

    [Fact]
    public void A_node_has_32_prefixes_and_the_33rd_is_refused_with_the_limit()
    {
        using var cluster = Started(1);
        for (int i = 0; i < 32; i++)
        {
            cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPrefixAsync<string>($"{i}/", static (_, _, _) => default));
        }

        cluster.RunUntilCompleted(async () =>
        {
            var refused = await Assert.ThrowsAsync<InvalidOperationException>(
                () => cluster.Nodes[0].Node.OpenPrefixAsync<string>("more/", static (_, _, _) => default));
            Assert.Contains("has 32 prefixes open, which is the limit", refused.Message);
            await Assert.ThrowsAsync<ArgumentException>(
                () => cluster.Nodes[0].Node.OpenPrefixAsync<string>("prices/*", static (_, _, _) => default));
        });
    }

    // Names of a few letters, so that many of them begin alike.
    [Fact]
    public void Exactly_the_published_topics_that_begin_so_are_subscribed() =>
        Prop.ForAll<byte[], byte, byte[]>(SubscribesExactly).Check(Config.QuickThrowOnFailure.WithMaxTest(25));

    private static void SubscribesExactly(byte[] names, byte prefixed, byte[] closed)
    {
        using var cluster = Started(2);
        string[] distinct = [.. names.Select(NameOf).Distinct()];
        string prefix = NameOf(prefixed);
        var open = distinct.Take(distinct.Length / 2).ToDictionary(static name => name, name => Open(cluster, 1, name));
        var subscription = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPrefixAsync<string>(
            prefix, static (_, _, _) => default, new PrefixOptions<string> { KeepOpen = TimeSpan.Zero }));
        foreach (string name in distinct.Skip(distinct.Length / 2))
        {
            open[name] = Open(cluster, 1, name);
        }

        foreach (string name in closed.Select(NameOf).Distinct())
        {
            if (open.Remove(name, out var topic))
            {
                cluster.RunUntilCompleted(async () => await topic.DisposeAsync());
            }
        }

        cluster.Run(Second * 2);
        Assert.Equal(
            open.Keys.Where(name => name.StartsWith(prefix, StringComparison.Ordinal)).Order(StringComparer.Ordinal),
            subscription.Topics.Select(static topic => topic.Name).Order(StringComparer.Ordinal));
        Assert.All(subscription.Topics, static topic => Assert.Equal(PrefixTopicState.Open, topic.State));
    }

    private static string NameOf(byte value) =>
        string.Concat(Enumerable.Range(0, 1 + (value & 3)).Select(i => "ab/A"[(value >> (2 + i)) & 3]));

    private static SimulatedCluster Started(int nodes)
    {
        var cluster = new SimulatedCluster(nodes, seed: 5);
        cluster.Start();
        return cluster;
    }

    private static ITopicPublisher<string> Open(SimulatedCluster cluster, int node, string name) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenPublisherAsync<string>(name));

    private ITopicPrefix OpenPrefix(SimulatedCluster cluster, int node, PrefixOptions<string>? options = null)
    {
        options ??= new PrefixOptions<string>();
        options.OnTopic = _told.Add;
        return cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenPrefixAsync<string>(
            Prefix,
            (topic, message, _) =>
            {
                _got.Add((topic, message.Value));
                return default;
            },
            options));
    }
}
