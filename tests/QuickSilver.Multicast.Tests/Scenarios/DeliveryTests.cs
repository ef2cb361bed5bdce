using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// I1 to I4, I11, I17 to I20 under F1, F2, F10, F13.
public sealed class DeliveryTests
{
    private const ulong Topic = 1;

    public static TheoryData<string> Links =>
        ["perfect", "loss 5", "loss 20", "bursts", "duplicates, reordering and jitter", "bit flips", "slow"];

    [Theory]
    [MemberData(nameof(Links))]
    public void Every_subscriber_gets_every_message_once_and_in_order(string link)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Publishing(seed, Link(link), subscribers: 3);
            cluster[0].PublishAll(Topic, 2000, 300);

            Assert.True(cluster.RunUntil(() => AllGot(cluster, 2000)), $"Seed {seed} over {link} did not complete.");

            foreach (var host in cluster.Hosts.Skip(1))
            {
                MulticastCluster.AssertRun(host, cluster[0], Topic, first: 1, last: 2000);
                Assert.Empty(host.Gaps);
            }
        }
    }

    // With these seeds the acknowledgement is lost that says all was taken, right after one that said all is held.
    [Theory]
    [InlineData(1196)]
    [InlineData(1561)]
    [InlineData(2038)]
    public void A_window_that_was_closed_when_the_last_acknowledgement_was_lost_opens_again(ulong seed)
    {
        var cluster = Publishing(seed, Link("loss 20"), subscribers: 3);
        cluster[0].PublishAll(Topic, 20_000, 30);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 20_000)), string.Join(' ', cluster.Hosts.Select(host => host.Log.Count)));
    }

    // The token speaks of a sender before the membership service did: it is not known yet, and not gone.
    // I17 under F1: what is over the limit comes later, and comes.
    [Fact]
    public void No_node_sends_more_again_in_any_time_than_its_limit_allows()
    {
        const long Limit = 1 << 18;
        var options = new MulticastOptions { ClusterId = 7, RepairBytesPerSecond = Limit };
        var cluster = new MulticastCluster(3, 4, new LinkModel { Loss = 0.3 }, options: options);
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        cluster[0].PublishAll(1, 3_000, 1_000);
        for (int step = 1; step <= 200; step++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            long burst = 16 * options.PacketBytes;
            long allowed = burst + (Limit * step / 100) + (2 * options.PacketBytes);
            Assert.All(cluster.Hosts, host => Assert.InRange(host.Multicast.Counters.RepairsSent * 1_000, 0, allowed));
        }

        Assert.True(cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsPutOff) > 0, "the limit was never reached");
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 3_000)));
    }

    [Fact]
    public void A_member_that_hears_late_of_a_new_sender_gets_all_of_it()
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            var cluster = new MulticastCluster(seed, 4, Link("loss 20"));
            foreach (var host in cluster.Hosts.Skip(1))
            {
                host.Subscribes(Topic);
            }

            cluster.Commit();
            var before = cluster[0];
            before.Node.Crash();
            cluster.Service.Remove(before.Key);
            var sender = cluster.Restart(0);
            sender.Publishes(Topic);
            cluster.Service.MaxNewsDelay = TimeSpan.FromSeconds(5);
            cluster.Service.Commit();
            sender.PublishAll(Topic, 2000, 300);

            var subscribers = cluster.Hosts.Skip(1).Take(3).ToList();
            Assert.True(
                cluster.RunUntil(() => subscribers.TrueForAll(host => MulticastCluster.HasAll(host, sender.Key, Topic, 2000))),
                $"Seed {seed}: {string.Join(' ', subscribers.Select(host => host.Log.Count))}");
            Assert.All(subscribers, host => MulticastCluster.AssertRun(host, sender, Topic, first: 1, last: 2000));
            Assert.All(subscribers, host => Assert.Empty(host.Gaps));
        }
    }

    [Fact]
    public void A_stable_stream_keeps_nothing()
    {
        var cluster = Publishing(1, Link("loss 20"), subscribers: 3);
        cluster[0].PublishAll(Topic, 5000, 500);
        Assert.True(cluster.RunUntil(() => AllGot(cluster, 5000)));

        Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable, 5));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        Assert.All(cluster.Hosts.Skip(1), host => Assert.True(host.Node.Environment.Buffers.LeasedBlocks <= 3));
        Assert.Equal(0, cluster[0].Multicast.Readings.UnackedBytes);
    }

    [Fact]
    public void The_same_seed_gives_the_same_trace_and_another_seed_another()
    {
        Assert.Equal(Trace(5), Trace(5));
        Assert.NotEqual(Trace(5), Trace(6));

        static ulong Trace(ulong seed)
        {
            var cluster = Publishing(seed, Link("loss 20"), subscribers: 4);
            cluster[0].PublishAll(Topic, 500, 200);
            cluster.RunUntil(() => AllGot(cluster, 500));
            return cluster.Simulation.Trace.Value;
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(1387)]
    [InlineData(1388)]
    [InlineData(1389)]
    [InlineData(70_000)]
    [InlineData(3_000_000)]
    public void A_message_of_any_size_arrives_whole(int bytes)
    {
        var cluster = Publishing(3, Link("loss 5"), subscribers: 2);
        cluster[0].PublishAll(Topic, 3, bytes);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 3)));

        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 3));
        Assert.All(cluster[1].Log, one => Assert.Equal(bytes, one.Bytes));
    }

    [Fact]
    public void Messages_over_packet_borders_keep_their_bytes_while_they_wait_for_room_and_others_pass()
    {
        const ulong Other = 2;
        var cluster = new MulticastCluster(4, 2, Link("loss 5"));
        cluster[0].Publishes(Topic);
        cluster[0].Publishes(Other);
        var full = cluster[1].Subscribes(Topic);
        cluster[1].Subscribes(Other);
        cluster.Commit();
        full.IsFull = true;
        cluster[0].PublishAll(Topic, 8, 3000);
        cluster[0].PublishAll(Other, 6, 2500);
        Assert.True(cluster.RunUntil(() => MulticastCluster.HasAll(cluster[1], cluster[0].Key, Other, 6)));
        Assert.Empty(cluster[1].SequencesOf(cluster[0].Key, Topic));
        full.IsFull = false;
        cluster[1].Resume(Topic);

        Assert.True(cluster.RunUntil(() => MulticastCluster.HasAll(cluster[1], cluster[0].Key, Topic, 8)));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Topic, first: 1, last: 8);
        MulticastCluster.AssertRun(cluster[1], cluster[0], Other, first: 1, last: 6);
    }

    [Fact]
    public void A_sixteen_mebibyte_message_arrives_whole()
    {
        var cluster = Publishing(4, Link("perfect"), subscribers: 2);
        cluster[0].PublishAll(Topic, 1, MulticastOptions.MaxMessageBytes);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 1)));

        MulticastCluster.AssertRun(cluster[1], cluster[0], Topic, 1, 1);
    }

    [Fact]
    public void A_lost_last_message_is_noticed_and_repaired()
    {
        var cluster = Publishing(1, null, subscribers: 2);
        cluster.Simulation.Network.Model = new LinkModel { MulticastOff = true };
        cluster[0].PublishAll(Topic, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        cluster.Simulation.Network.Heal();

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 1), 2));
    }

    [Fact]
    public void Repair_is_bounded_by_a_small_multiple_of_the_losses()
    {
        var cluster = Publishing(9, Link("loss 5"), subscribers: 4);
        cluster[0].PublishAll(Topic, 20_000, 300);
        Assert.True(cluster.RunUntil(() => AllGot(cluster, 20_000)));

        long repairs = cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent);
        double expectedLosses = cluster[0].Multicast.Counters.PacketsSent * 0.05 * 4;
        Assert.InRange(repairs, expectedLosses * 0.5, expectedLosses * 2);
    }

    [Fact]
    public void A_sink_without_room_holds_the_sender_back_and_loses_nothing()
    {
        var cluster = new MulticastCluster(2, 3);
        cluster[0].Publishes(Topic);
        var slow = cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        slow.IsFull = true;
        cluster[0].PublishAll(Topic, 50_000, 1000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        Assert.Empty(cluster[1].Log);
        Assert.True(cluster[2].Log.Count < 20_000, "The sender was not held back.");
        slow.IsFull = false;
        cluster[1].Resume(Topic);

        Assert.True(cluster.RunUntil(() => MulticastCluster.HasAll(cluster[1], cluster[0].Key, Topic, 50_000)));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Topic, 1, 50_000);
        MulticastCluster.AssertRun(cluster[2], cluster[0], Topic, 1, 50_000);
    }

    [Fact]
    public void A_sender_whose_system_has_no_room_loses_nothing()
    {
        var cluster = Publishing(2, null, subscribers: 2);
        cluster[0].Node.Model = cluster[0].Node.Model with { SendBusyProbability = 0.3 };
        cluster[0].PublishAll(Topic, 3000, 500);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 3000)));

        Assert.True(cluster[0].Multicast.Counters.BusySends > 0);
        MulticastCluster.AssertRun(cluster[1], cluster[0], Topic, 1, 3000);
    }

    [Fact]
    public void Unicast_copies_serve_where_multicast_is_off()
    {
        var options = new MulticastOptions { ClusterId = 7, Unicast = true };
        var cluster = new MulticastCluster(2, 4, new LinkModel { MulticastOff = true, Loss = 0.05 }, options);
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        cluster[0].PublishAll(Topic, 2000, 300);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 2000)));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 2000));
    }

    // One node subscribes to both topics: in one region it is reached by the group, in the other by copies.
    [Fact]
    public void A_region_without_a_group_is_sent_copies_beside_others_that_have_one()
    {
        const ulong Singly = Topic + 1;
        var cluster = new MulticastCluster(3, 4, new LinkModel { Loss = 0.05 });
        cluster[0].Publishes(Topic);
        cluster[0].Publishes(Singly);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster.Service.HasGroups = false;
        cluster[3].Subscribes(Singly);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 1000, 300);
        cluster[0].PublishAll(Singly, 1000, 300);

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1000)));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Topic, 1, 1000);
        MulticastCluster.AssertRun(cluster[2], cluster[0], Topic, 1, 1000);
        MulticastCluster.AssertRun(cluster[3], cluster[0], Singly, 1, 1000);
    }

    [Fact]
    public void A_best_effort_topic_reports_its_gaps_and_repairs_nothing()
    {
        var cluster = new MulticastCluster(5, 3, new LinkModel { Loss = 0.1 });
        cluster[0].Publishes(Topic, reliable: false);
        cluster[1].Subscribes(Topic, reliable: false);
        cluster[2].Subscribes(Topic, reliable: false);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 5000, 400);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        foreach (var host in cluster.Hosts.Skip(1))
        {
            MulticastCluster.AssertRun(host, cluster[0], Topic);
            Assert.NotEmpty(host.Gaps);
            long told = host.Gaps.Sum(gap => gap.Last - gap.First + 1);
            Assert.Equal(5000, host.Log.Count + told);
        }

        // Of the topic's own packets none; of those that say where it begins and ends, perhaps.
        Assert.InRange(cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent), 0, 4);
    }

    [Fact]
    public void A_lost_packet_holds_back_only_the_topics_it_carried()
    {
        var cluster = new MulticastCluster(5, 2);
        cluster[0].Publishes(1);
        cluster[0].Publishes(2);
        cluster[1].Subscribes(1);
        cluster[1].Subscribes(2);
        cluster.Commit();
        cluster[0].PublishAll(1, 1, 50);
        cluster[0].PublishAll(2, 1, 50);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 2));
        // From now on everything back to the sender is lost, so nothing can be repaired; one packet of topic 1 is lost.
        cluster.Simulation.Network.Link(1, 0).SetModel(new LinkModel { Loss = 1 });
        cluster.Simulation.Network.Link(0, 1).SetModel(new LinkModel { Loss = 1 });
        cluster[0].PublishAll(1, 1, 50);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster.Simulation.Network.Link(0, 1).SetModel(null);
        cluster[0].PublishAll(2, 5, 50);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));

        Assert.Equal(6, cluster[1].SequencesOf(cluster[0].Key, 2).Count());
        Assert.Single(cluster[1].SequencesOf(cluster[0].Key, 1));
    }

    internal static LinkModel? Link(string name) => name switch
    {
        "perfect" => null,
        "loss 5" => new LinkModel { Loss = 0.05 },
        "loss 20" => new LinkModel { Loss = 0.2 },
        "bursts" => new LinkModel { Burst = new BurstLoss() },
        "duplicates, reordering and jitter" => new LinkModel
        {
            Duplicate = 0.01,
            Reorder = 0.01,
            ReorderHold = TimeSpan.FromMilliseconds(3),
            Jitter = TimeSpan.FromMilliseconds(2),
        },
        "bit flips" => new LinkModel { Corrupt = 0.05 },
        "slow" => new LinkModel { BytesPerSecond = 1_000_000, Delay = TimeSpan.FromMilliseconds(20) },
        _ => throw new ArgumentOutOfRangeException(nameof(name)),
    };

    private static MulticastCluster Publishing(ulong seed, LinkModel? link, int subscribers)
    {
        var cluster = new MulticastCluster(seed, subscribers + 1, link);
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }

    private static bool AllGot(MulticastCluster cluster, int count) =>
        cluster.Hosts.Skip(1).All(host => host.Log.Count >= count);
}
