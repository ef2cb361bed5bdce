using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// Nodes that subscribe to and leave other topics change region all the time; of what they keep they miss nothing and get
// nothing twice (I1 to I4, I7, I8, I19 under F1, F2).
public sealed class ChurnTests
{
    private const int Nodes = 8;
    private const int Topics = 20;
    private const ulong Kept = 1000;

    [Fact]
    public void Endpoints_that_stay_open_through_churn_miss_nothing()
    {
        for (ulong seed = 1; seed <= 6; seed++)
        {
            var cluster = new MulticastCluster(seed, Nodes + 1, seed % 2 == 0 ? new LinkModel { Loss = 0.02 } : null);
            var publisher = cluster[0];
            publisher.Publishes(Kept);
            for (ulong topic = 1; topic <= Topics; topic++)
            {
                publisher.Publishes(topic);
            }

            foreach (var host in cluster.Hosts.Skip(1))
            {
                host.Subscribes(Kept);
            }

            cluster.Commit();
            var random = new Random((int)seed);
            int published = 0;
            for (int step = 0; step < 100; step++)
            {
                var host = cluster[random.Next(1, Nodes + 1)];
                ulong topic = (ulong)random.Next(1, Topics + 1);
                host.OnCore(() =>
                {
                    if (host.IsSubscribed(topic))
                    {
                        host.Unsubscribes(topic);
                    }
                    else
                    {
                        host.Subscribes(topic);
                    }
                });
                cluster.Simulation.Run(TimeSpan.FromTicks(1));
                cluster.Service.Commit();
                for (int burst = 0; burst < 10; burst++)
                {
                    publisher.OnCore(() =>
                    {
                        Assert.True(publisher.Publish(Kept, 100));
                        published++;
                        publisher.Publish((ulong)random.Next(1, Topics + 1), 100);
                    });
                    cluster.Simulation.Run(TimeSpan.FromMilliseconds(random.Next(0, 4)));
                }
            }

            Assert.True(
                cluster.RunUntil(
                    () => cluster.Hosts.Skip(1).All(host => MulticastCluster.HasAll(host, publisher.Key, Kept, published)), 20),
                $"Seed {seed}: not all got the {published} messages: "
                + string.Join(' ', cluster.Hosts.Skip(1).Select(host => host.SequencesOf(publisher.Key, Kept).Count())));
            Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, publisher, Kept, 1, published));
            Assert.All(cluster.Hosts.Skip(1), host => Assert.Empty(host.Gaps));
            Assert.All(cluster.Hosts.Skip(1), host => Assert.Equal(0, host.Multicast.Counters.DuplicateMessages));
        }
    }

    // A view waits a while for what other members may know of a node that is gone. Nodes that came when it was over are not among those.
    [Fact]
    public void Views_that_are_over_are_closed_while_nodes_come_and_go()
    {
        var cluster = new MulticastCluster(seed: 1, nodes: 4);
        foreach (var host in cluster.Hosts)
        {
            host.Subscribes(Kept);
            host.Publishes(Kept);
        }

        cluster.Commit();
        var passing = cluster[3];
        for (int i = 0; i < 20; i++)
        {
            cluster[0].OnCore(() => cluster[0].Publish(Kept, 100));
            passing.Node.Crash();
            cluster.Service.Remove(passing.Key);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
            passing = cluster.Restart(3);
            passing.Subscribes(Kept);
            passing.Publishes(Kept);
            cluster.Commit();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        }

        var oldest = cluster.Simulation.Now - (cluster.Options.ClosingPause * 2);
        Assert.All(cluster.Hosts.Take(3), host => Assert.All(
            host.Multicast.Regions, region => Assert.True(region.SupersededAt == 0 || region.SupersededSince > oldest)));
        Assert.All(cluster.Hosts.Take(3), host => MulticastCluster.AssertRun(host, cluster[0], Kept, 1, 20));
    }

    // A flush that comes before the posted one must not make the next message post it again while it is still queued.
    [Fact]
    public void Messages_published_around_a_change_of_views_in_one_turn_go_out_once()
    {
        var cluster = new MulticastCluster(1, 2);
        var (publisher, subscriber) = (cluster[0], cluster[1]);
        publisher.Publishes(1);
        subscriber.Subscribes(1);
        cluster.Commit();
        publisher.OnCore(() =>
        {
            publisher.Publish(1, 100);
            publisher.Multicast.WhenStable(() => { });
            publisher.Publish(1, 100);
        });
        Assert.True(cluster.RunUntil(() => MulticastCluster.HasAll(subscriber, publisher.Key, 1, 2), 2));
        MulticastCluster.AssertRun(subscriber, publisher, 1, 1, 2);
    }

    // F6: one member's pause keeps all configurations unsettled; a subscriber of an old one must still find where it begins.
    [Fact]
    public void A_sender_waits_when_more_configurations_are_unsettled_than_its_start_table_holds()
    {
        var cluster = new MulticastCluster(1, 5);
        var (publisher, paused, restless, late) = (cluster[0], cluster[1], cluster[2], cluster[3]);
        publisher.Publishes(Kept);
        paused.Subscribes(Kept);
        cluster.Commit();
        paused.Node.Pause();
        late.Subscribes(Kept);
        cluster.Commit();
        int published = 0;
        for (int step = 0; step < 2 * StartTable.MaxEntries; step++)
        {
            restless.OnCore(() =>
            {
                if (restless.IsSubscribed(Kept))
                {
                    restless.Unsubscribes(Kept);
                }
                else
                {
                    restless.Subscribes(Kept);
                }
            });
            cluster.Simulation.Run(TimeSpan.FromTicks(1));
            cluster.Service.Commit();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            publisher.OnCore(() => published += publisher.Publish(Kept, 10) ? 1 : 0);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }

        Assert.InRange(published, StartTable.MaxEntries / 2, StartTable.MaxEntries);
        paused.Node.Resume();
        Assert.True(cluster.RunUntil(() => ((TopicSender)publisher.Sender(Kept)).HasRoom), "the sender waits forever");
        publisher.OnCore(() => published += publisher.Publish(Kept, 10) ? 1 : 0);
        Assert.True(
            cluster.RunUntil(() => MulticastCluster.HasAll(late, publisher.Key, Kept, published)
                && MulticastCluster.HasAll(paused, publisher.Key, Kept, published)),
            $"{late.Log.Count} and {paused.Log.Count} of {published}");
        MulticastCluster.AssertRun(late, publisher, Kept, 1, published);
        MulticastCluster.AssertRun(paused, publisher, Kept, 1, published);
    }

    [Fact]
    public void Old_views_close_when_all_is_settled()
    {
        var cluster = new MulticastCluster(3, 4, new LinkModel { Loss = 0.05 });
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        for (ulong round = 0; round < 20; round++)
        {
            cluster[0].PublishAll(1, 20, 200);
            var host = cluster[1 + (int)(round % 3)];
            host.OnCore(() => host.Subscribes(100 + round));
            cluster.Simulation.Run(TimeSpan.FromTicks(1));
            cluster.Commit();
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        Assert.All(cluster.Hosts.Skip(1), host => Assert.Single(host.Multicast.Regions));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 400));
    }

    [Fact]
    public void A_subscriber_of_a_running_topic_begins_at_one_point_and_misses_nothing_after_it()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            var cluster = new MulticastCluster(seed, 4, new LinkModel { Loss = 0.1 });
            cluster[0].Publishes(1);
            cluster[1].Subscribes(1);
            cluster[2].Subscribes(1);
            cluster.Commit();
            int published = 0;
            for (int step = 0; step < 60; step++)
            {
                if (step == 20)
                {
                    cluster[3].OnCore(() => cluster[3].Subscribes(1));
                    cluster.Simulation.Run(TimeSpan.FromTicks(1));
                    cluster.Service.Commit();
                }

                cluster[0].OnCore(() =>
                {
                    for (int i = 0; i < 10; i++)
                    {
                        Assert.True(cluster[0].Publish(1, 200));
                        published++;
                    }
                });
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            }

            cluster.Simulation.Run(TimeSpan.FromSeconds(5));

            MulticastCluster.AssertRun(cluster[1], cluster[0], 1, 1, published);
            MulticastCluster.AssertRun(cluster[3], cluster[0], 1, null, published);
            Assert.InRange(cluster[3].Log.Count, 300, 420);
        }
    }
}
