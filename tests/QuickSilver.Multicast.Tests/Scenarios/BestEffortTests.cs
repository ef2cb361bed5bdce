using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A topic that does not repair: what is sent is delivered or reported as a gap, exactly, to all members that stay and soon (I1 to I4, I8,
// I17, I19 under F1 and F2).
public sealed class BestEffortTests
{
    private const ulong Topic = 1;

    public static TheoryData<string> Links => ["perfect", "loss 5", "loss 20", "loss 30", "bursts", "duplicates, reordering and jitter"];

    [Theory]
    [MemberData(nameof(Links))]
    public void Deliveries_and_reported_gaps_add_up_to_what_was_sent(string link)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var cluster = Publishing(seed, Link(link), subscribers: 3);
            cluster[0].PublishAll(Topic, 3_000, 400);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));

            Assert.All(cluster.Hosts.Skip(1), host => AssertAccountedFor(host, cluster[0], Topic, 1, 3_000, seed));
        }
    }

    [Fact]
    public void A_loss_is_reported_within_a_quarter_of_a_second_and_what_follows_is_delivered()
    {
        var cluster = Publishing(1, null, subscribers: 1);
        Lose(cluster, () => cluster[0].PublishAll(Topic, 1, 100));
        Assert.Empty(cluster[1].Gaps);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(250));
        AssertAccountedFor(cluster[1], cluster[0], Topic, 1, 1, 1);
        Assert.Single(cluster[1].Gaps);
        for (int i = 0; i < 100; i++)
        {
            cluster[0].PublishAll(Topic, 1, 100);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }

        Assert.Equal(100, cluster[1].Log.Count);
        AssertAccountedFor(cluster[1], cluster[0], Topic, 1, 101, 1);
    }

    [Fact]
    public void A_loss_between_others_is_reported_as_soon_as_it_cannot_be_reordering()
    {
        var cluster = Publishing(2, null, subscribers: 1);
        cluster[0].PublishAll(Topic, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        Lose(cluster, () => cluster[0].PublishAll(Topic, 3, 100));
        cluster[0].PublishAll(Topic, 1, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 2, 0.025), "what follows a loss waits longer than for reordering");

        var gap = Assert.Single(cluster[1].Gaps);
        Assert.Equal((2L, 4L, TopicGapReason.Unrepaired), (gap.First, gap.Last, gap.Reason));
    }

    [Fact]
    public void A_loss_just_before_a_change_of_views_silences_no_sender()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var cluster = new MulticastCluster(seed, 3);
            cluster.Service.MaxNewsDelay = TimeSpan.Zero;
            cluster[0].Publishes(Topic, reliable: false);
            cluster[1].Subscribes(Topic, reliable: false);
            cluster.Commit();
            cluster[0].PublishAll(Topic, 10, 100);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Lose(cluster, () =>
            {
                cluster[0].PublishAll(Topic, 1, 100);
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
                cluster[2].OnCore(() => cluster[2].Subscribes(Topic, reliable: false));
                cluster.Simulation.Run(TimeSpan.FromTicks(1));
                cluster.Service.Commit();
            });
            for (int i = 0; i < 10; i++)
            {
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
                cluster[0].PublishAll(Topic, 10, 100);
            }

            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            AssertAccountedFor(cluster[1], cluster[0], Topic, 1, 111, seed);
            Assert.InRange(cluster[1].Log.Count, 109, 110);
            AssertAccountedFor(cluster[2], cluster[0], Topic, 12, 111, seed);
        }
    }

    [Fact]
    public void A_publisher_that_closes_the_topic_leaves_nothing_unreported()
    {
        for (ulong seed = 1; seed <= 30; seed++)
        {
            var cluster = Publishing(seed, new LinkModel { Loss = 0.3 }, subscribers: 2);
            cluster[0].OnCore(() =>
            {
                for (int i = 0; i < 5; i++)
                {
                    Assert.True(cluster[0].Publish(Topic, 100));
                }

                cluster[0].Sender(Topic).Close();
            });
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));

            Assert.All(cluster.Hosts.Skip(1), host => AssertAccountedFor(host, cluster[0], Topic, 1, 5, seed));
        }
    }

    [Fact]
    public void A_node_that_drains_before_it_leaves_leaves_nothing_unreported()
    {
        for (ulong seed = 1; seed <= 30; seed++)
        {
            var cluster = Publishing(seed, new LinkModel { Loss = 0.3 }, subscribers: 2);
            var publisher = cluster[0];
            bool isDrained = false;
            publisher.OnCore(() =>
            {
                for (int i = 0; i < 5; i++)
                {
                    Assert.True(publisher.Publish(Topic, 100));
                }

                publisher.Sender(Topic).WhenStable(() => isDrained = true);
            });
            Assert.True(cluster.RunUntil(() => isDrained, 5), $"Seed {seed}: the publisher does not come to its end");
            publisher.OnCore(() =>
            {
                publisher.Sender(Topic).Close();
                publisher.Multicast.Close();
            });
            cluster.Simulation.Run(TimeSpan.FromTicks(1));
            publisher.Node.Crash();
            cluster.Service.Remove(publisher.Key);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));

            Assert.All(cluster.Hosts.Skip(1), host => AssertAccountedFor(host, publisher, Topic, 1, 5, seed));
        }
    }

    // What a sender that fails sent last cannot be known; what came is handed up.
    [Fact]
    public void Of_a_sender_that_fails_all_that_came_is_delivered_and_nothing_is_kept()
    {
        for (ulong seed = 1; seed <= 30; seed++)
        {
            var cluster = Publishing(seed, new LinkModel { Loss = 0.3 }, subscribers: 2);
            var publisher = cluster[0];
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            publisher.PublishAll(Topic, 20, 3_000);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            publisher.Node.Crash();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
            cluster.Service.Remove(publisher.Key);
            cluster.Simulation.Run(TimeSpan.FromSeconds(10));

            foreach (var host in cluster.Hosts.Skip(1))
            {
                MulticastCluster.AssertRun(host, publisher, Topic);
                Assert.Equal(0, host.Multicast.Context.Receiving.Reassembly.Bytes);
            }
        }
    }

    [Fact]
    public void Messages_of_many_packets_and_several_senders_are_accounted_for()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var link = new LinkModel { Loss = 0.02, Jitter = TimeSpan.FromMilliseconds(1) };
            var cluster = new MulticastCluster(seed, 5, link, poolBlocks: 2048);
            foreach (var host in cluster.Hosts.Take(2))
            {
                host.Publishes(Topic, reliable: false);
            }

            foreach (var host in cluster.Hosts.Skip(2))
            {
                host.Subscribes(Topic, reliable: false);
            }

            cluster.Commit();
            cluster[0].PublishAll(Topic, 200, 20_000);
            cluster[1].PublishAll(Topic, 200, 3_000);
            cluster.Simulation.Run(TimeSpan.FromSeconds(3));

            foreach (var host in cluster.Hosts.Skip(2))
            {
                AssertAccountedFor(host, cluster[0], Topic, 1, 200, seed);
                AssertAccountedFor(host, cluster[1], Topic, 1, 200, seed);
                Assert.NotEmpty(host.SequencesOf(cluster[0].Key, Topic));
                Assert.Equal(0, host.Multicast.Context.Receiving.Reassembly.Bytes);
            }
        }
    }

    // A link that is down for longer than the window of packet numbers reaches.
    [Fact]
    public void A_stream_continues_after_more_was_lost_than_a_window_holds()
    {
        var options = new MulticastOptions { ClusterId = 7, WindowPackets = 256 };
        var cluster = new MulticastCluster(1, 2, options: options);
        cluster[0].Publishes(Topic, reliable: false);
        cluster[1].Subscribes(Topic, reliable: false);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 5, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Lose(cluster, () => cluster[0].PublishAll(Topic, 1_000, 1_000));
        cluster[0].PublishAll(Topic, 5, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));

        Assert.Equal(10, cluster[1].Log.Count);
        AssertAccountedFor(cluster[1], cluster[0], Topic, 1, 1_010, 1);
    }

    [Fact]
    public void A_reader_without_room_gets_what_it_could_not_take_as_a_gap_and_no_packet_waits_for_it()
    {
        const ulong Other = 2;
        var options = new MulticastOptions
        {
            ClusterId = 7,
            WindowPackets = 1024,
            ParkedBytes = 10_000,
            ParkedBytesOfTopic = 10_000,
        };
        var cluster = new MulticastCluster(1, 2, options: options);
        foreach (ulong topic in (ulong[])[Topic, Other])
        {
            cluster[0].Publishes(topic, reliable: false);
        }

        var full = cluster[1].Subscribes(Topic, reliable: false);
        cluster[1].Subscribes(Other, reliable: false);
        cluster.Commit();
        full.IsFull = true;
        for (int i = 0; i < 100; i++)
        {
            cluster[0].PublishAll(Topic, 100, 1_000);
            cluster[0].PublishAll(Other, 100, 1_000);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }

        Assert.Equal(10_000, cluster[1].SequencesOf(cluster[0].Key, Other).Count());
        Assert.InRange(cluster[1].Node.Environment.Buffers.LeasedBlocks, 0, 8);
        full.IsFull = false;
        cluster[1].Resume(Topic);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));

        // Its sender waited too, once it was notified.
        AssertAccountedFor(cluster[1], cluster[0], Topic, 1, cluster[0].Published.Keys.Count(key => key.Topic == Topic), 1);
        Assert.NotEmpty(cluster[1].SequencesOf(cluster[0].Key, Topic));
        Assert.Equal(0, cluster[1].Multicast.Context.Receiving.Reassembly.Bytes);
    }

    [Fact]
    public void A_member_that_stays_through_churn_is_notified_of_all_that_it_did_not_get()
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            Churn(seed);
        }
    }

    private static void Churn(ulong seed)
    {
        const ulong Kept = 1000;
        const int Nodes = 6;
        const int Topics = 8;
        var random = new Random((int)seed);
        var link = new LinkModel
        {
            Loss = random.Next(0, 31) / 100.0,
            Duplicate = 0.02,
            Reorder = 0.02,
            ReorderHold = TimeSpan.FromMilliseconds(2),
        };
        var cluster = new MulticastCluster(seed, Nodes + 2, link);
        var publishers = cluster.Hosts.Take(2).ToList();
        foreach (var publisher in publishers)
        {
            publisher.Publishes(Kept, reliable: false);
            for (ulong topic = 1; topic <= Topics; topic++)
            {
                publisher.Publishes(topic, reliable: topic % 2 == 0);
            }
        }

        foreach (var host in cluster.Hosts.Skip(2))
        {
            host.Subscribes(Kept, reliable: false);
        }

        cluster.Commit();
        var sent = new long[2];
        for (int step = 0; step < 40; step++)
        {
            var host = cluster[random.Next(2, Nodes + 2)];
            ulong topic = (ulong)random.Next(1, Topics + 1);
            host.OnCore(() =>
            {
                if (host.IsSubscribed(topic))
                {
                    host.Unsubscribes(topic);
                }
                else
                {
                    host.Subscribes(topic, reliable: topic % 2 == 0);
                }
            });
            cluster.Simulation.Run(TimeSpan.FromTicks(1));
            cluster.Service.Commit();
            for (int burst = random.Next(0, 6); burst > 0; burst--)
            {
                int who = random.Next(2);
                publishers[who].OnCore(() =>
                {
                    sent[who] += publishers[who].Publish(Kept, random.Next(5) == 0 ? 4_000 : 100) ? 1 : 0;
                    publishers[who].Publish((ulong)random.Next(1, Topics + 1), 100);
                });
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(random.Next(0, 20)));
            }
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        foreach (var host in cluster.Hosts.Skip(2))
        {
            AssertAccountedFor(host, publishers[0], Kept, 1, sent[0], seed);
            AssertAccountedFor(host, publishers[1], Kept, 1, sent[1], seed);
        }

        cluster.Simulation.Network.Model = new LinkModel();
        Assert.True(
            cluster.RunUntil(() => cluster.Hosts.Skip(2).All(host => host.Multicast.Regions.Count == 1)),
            $"Seed {seed}: old views stay open: {string.Join(' ', cluster.Hosts.Skip(2).Select(host => host.Multicast.Regions.Count))}");
        Assert.All(cluster.Hosts.Skip(2), host => Assert.Equal(0, host.Multicast.Context.Receiving.Reassembly.Bytes));
    }

    /// <summary>Each number once: delivered with what was published, or in one gap; in order, none twice, none left out.</summary>
    private static void AssertAccountedFor(Host receiver, Host sender, ulong topic, long first, long last, ulong seed)
    {
        var log = receiver.Log.Where(one => one.Sender == sender.Key && one.Topic == topic).ToList();
        Assert.All(log, one => Assert.Equal(sender.Published[(topic, one.Sequence)], one.Hash));
        var got = log.ConvertAll(one => one.Sequence);
        Assert.Equal(got.Order(), got);
        var told = receiver.Gaps.Where(gap => gap.Sender == sender.Key && gap.TopicId == topic)
            .SelectMany(gap => Enumerable.Range(0, (int)(gap.Last - gap.First + 1)).Select(i => gap.First + i)).ToList();
        Assert.Equal(receiver.Log.Count(one => one.Topic == topic), receiver.ReceiverOf(topic).Taken);
        var all = got.Concat(told).Order().ToList();
        var expected = Enumerable.Range(0, (int)(last - first + 1)).Select(i => first + i).ToList();
        Assert.True(
            expected.SequenceEqual(all),
            $"Seed {seed}, node {receiver.Node.Number} of {sender.Key}: {got.Count} delivered and {told.Count} reported are not "
            + $"{first} to {last}; missing {string.Join(' ', expected.Except(all).Take(10))}, "
            + $"beyond {string.Join(' ', all.Except(expected).Take(10))}");
    }

    // All that is sent meanwhile is lost.
    private static void Lose(MulticastCluster cluster, Action meanwhile)
    {
        var before = cluster.Simulation.Network.Model;
        cluster.Simulation.Network.Model = new LinkModel { Loss = 1 };
        meanwhile();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster.Simulation.Network.Model = before;
    }

    private static LinkModel? Link(string name) => name == "loss 30" ? new LinkModel { Loss = 0.3 } : DeliveryTests.Link(name);

    private static MulticastCluster Publishing(ulong seed, LinkModel? link, int subscribers)
    {
        var cluster = new MulticastCluster(seed, subscribers + 1, link);
        cluster[0].Publishes(Topic, reliable: false);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic, reliable: false);
        }

        cluster.Commit();
        return cluster;
    }
}
