using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// What every way of reaching the members of a view, of repairing what they miss, and of finding out what all of them hold must keep
// (I1 to I4, I11, I17 under F1, F2, F3, F13): all members get every message once and in order, and what was
// sent is let go.
public abstract class SchemeContract
{
    private const ulong Topic = 1;
    // Of a stream number of its own.
    private const ulong Numbered = 2;
    private const int Messages = 1_500;

    public static TheoryData<double> Losses => [0, 0.02, 0.2];

    internal abstract MulticastOptions Options { get; }

    [Theory]
    [MemberData(nameof(Losses))]
    public void Every_member_gets_every_message_once_and_in_order(double loss)
    {
        var cluster = Running(1, new LinkModel { Loss = loss });
        cluster[0].PublishAll(Topic, Messages, 300);
        AssertAllGet(cluster, cluster[0], cluster.Hosts.Skip(1));
    }

    [Fact]
    public void Two_senders_that_are_members_too_do_not_disturb_each_other()
    {
        var cluster = Running(2, new LinkModel { Loss = 0.05 }, publishers: [1, 2]);
        cluster[1].PublishAll(Topic, Messages, 300);
        cluster[2].PublishAll(Topic, Messages, 300);
        AssertAllGet(cluster, cluster[1], cluster.Hosts.Skip(2));
        AssertAllGet(cluster, cluster[2], [cluster[1], .. cluster.Hosts.Skip(3)]);
    }

    [Fact]
    public void Messages_larger_than_packets_arrive_whole()
    {
        var cluster = Running(3, new LinkModel { Loss = 0.05 });
        cluster[0].PublishAll(Topic, 40, 20_000);
        AssertAllGet(cluster, cluster[0], cluster.Hosts.Skip(1), 40);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(4)]
    public void A_member_that_crashes_holds_the_others_up_only_until_it_is_removed(int crashed)
    {
        var cluster = Running(4, new LinkModel { Loss = 0.05 });
        cluster[0].PublishAll(Topic, Messages, 300);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        var gone = cluster[crashed].Key;
        cluster.Simulation.Nodes[crashed].Crash();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Service.Remove(gone);
        AssertAllGet(cluster, cluster[0], cluster.Hosts.Skip(1).Where(host => host.Key != gone));
    }

    [Fact]
    public void A_new_view_in_the_middle_loses_nothing_for_members_that_stay_and_begins_somewhere_for_one_that_comes()
    {
        var cluster = Running(5, new LinkModel { Loss = 0.05 }, nodes: 6);
        cluster[0].PublishAll(Topic, Messages, 300);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        cluster[5].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, Messages, 300);
        AssertAllGet(cluster, cluster[0], cluster.Hosts.Skip(1).Take(4), Messages * 2);
        MulticastCluster.AssertRun(cluster[5], cluster[0], Topic, last: Messages * 2);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Reliable_streams_of_two_numbers_share_a_view_and_nothing_else(bool isOneMemberLost)
    {
        for (ulong seed = 10; seed < 20; seed++)
        {
            var cluster = Running(seed, new LinkModel { Loss = 0.1 }, numbered: [Numbered]);
            cluster[0].PublishAll(Topic, 300, 400);
            cluster[0].PublishAll(Numbered, 300, 2_000);
            var left = cluster.Hosts.Skip(1);
            if (isOneMemberLost)
            {
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(seed - 8));
                var gone = cluster[3].Key;
                cluster.Simulation.Nodes[3].Crash();
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(300));
                cluster.Service.Remove(gone);
                left = left.Where(host => host.Key != gone);
            }

            AssertAllGet(cluster, cluster[0], left, 300, $"Seed {seed}: ");
            AssertAllGet(cluster, cluster[0], left, 300, $"Seed {seed}: ", Numbered);
            // The last view of a cluster that has lost a member may have come after all messages.
            Assert.Contains(cluster[1].Multicast.Regions, region => isOneMemberLost || region.Streams.Count == 2);
        }
    }

    [Fact]
    public void When_a_sender_of_two_streams_crashes_the_members_agree_on_each_of_them()
    {
        for (ulong seed = 20; seed < 30; seed++)
        {
            var cluster = Running(seed, new LinkModel { Loss = 0.2 }, numbered: [Numbered]);
            cluster[0].PublishAll(Topic, 2_000, 500);
            cluster[0].PublishAll(Numbered, 2_000, 500);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(seed - 18));
            var sender = cluster[0].Key;
            cluster.Simulation.Nodes[0].Crash();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            cluster.Service.Remove(sender);
            cluster.Simulation.Run(TimeSpan.FromSeconds(5));
            foreach (ulong topic in new[] { Topic, Numbered })
            {
                var first = cluster[1].SequencesOf(sender, topic).ToList();
                Assert.NotEmpty(first);
                Assert.All(cluster.Hosts.Skip(2), host => Assert.Equal(first, host.SequencesOf(sender, topic)));
                Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], topic));
            }

            Assert.All(cluster.Hosts.Skip(1), host => Assert.All(host.Multicast.Regions, region => Assert.True(region.IsDrained)));
        }
    }

    [Fact]
    public void A_campaign_of_seeds_holds()
    {
        for (ulong seed = 100; seed < 140; seed++)
        {
            var chance = new Random((int)seed);
            var link = new LinkModel { Loss = chance.NextDouble() * 0.2, Duplicate = chance.NextDouble() * 0.05 };
            var cluster = Running(seed, link, publishers: [0, 1]);
            cluster[0].PublishAll(Topic, 300, chance.Next(10, 3_000));
            cluster[1].PublishAll(Topic, 300, chance.Next(10, 3_000));
            NodeKey? gone = null;
            if (chance.Next(2) == 0)
            {
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(chance.Next(1, 10)));
                int crashed = chance.Next(2, 5);
                gone = cluster[crashed].Key;
                cluster.Simulation.Nodes[crashed].Crash();
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(chance.Next(1, 1_000)));
                cluster.Service.Remove(gone.Value);
            }

            var left = cluster.Hosts.Skip(2).Where(host => host.Key != gone).ToList();
            AssertAllGet(cluster, cluster[0], [cluster[1], .. left], 300, $"Seed {seed}: ");
            AssertAllGet(cluster, cluster[1], left, 300, $"Seed {seed}: ");
        }
    }

    // Called before the nodes of a cluster open topics.
    internal virtual void Prepare(MulticastCluster cluster)
    {
    }

    internal MulticastCluster Running(ulong seed, LinkModel link, int[]? publishers = null, int nodes = 5, ulong[]? numbered = null)
    {
        var cluster = new MulticastCluster(seed, nodes, link, Options);
        Prepare(cluster);
        foreach (ulong topic in numbered ?? [])
        {
            cluster.StreamNumbers[topic] = 1;
        }

        foreach (ulong topic in (ulong[])[Topic, .. numbered ?? []])
        {
            foreach (int publisher in publishers ?? [0])
            {
                cluster[publisher].Publishes(topic);
            }

            foreach (var host in cluster.Hosts.Skip(1).Take(4))
            {
                host.Subscribes(topic);
            }
        }

        cluster.Commit();
        return cluster;
    }

    private static void AssertAllGet(
        MulticastCluster cluster, Host sender, IEnumerable<Host> receivers, int count = Messages, string context = "", ulong topic = Topic)
    {
        var all = receivers.ToList();
        Assert.True(
            cluster.RunUntil(() => all.TrueForAll(host => MulticastCluster.HasAll(host, sender.Key, topic, count))),
            context + string.Join(' ', all.Select(host => host.Log.Count(one => one.Sender == sender.Key))));
        Assert.All(all, host => MulticastCluster.AssertRun(host, sender, topic, 1, count));
        Assert.All(all, host => Assert.Empty(host.Gaps));
        Assert.True(cluster.RunUntil(() => sender.Multicast.Readings.UnackedBytes == 0), $"{context}{sender.Key} keeps what all have.");
    }
}
