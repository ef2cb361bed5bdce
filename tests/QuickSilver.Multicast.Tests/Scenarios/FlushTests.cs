using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// How long a view of a pinned topic waits for the one before it, while messages are sent all the time. In some views a node has departed;
// what it sent is agreed on by the members, and not waited for.
public sealed class FlushTests
{
    private const ulong Topic = 1;

    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(2);

    [Fact]
    public void A_publisher_that_left_an_hour_ago_delays_no_view()
    {
        var cluster = Running(1, members: 3, nodes: 5);
        cluster[3].PublishAll(Topic, 20, 100);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Take(3).All(static host => host.Log.Count == 20)));
        cluster.Service.Remove(cluster[3].Key);
        cluster[3].Node.Crash();
        cluster.Simulation.Run(TimeSpan.FromHours(1));
        cluster[0].PublishAll(Topic, 50, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));

        cluster[4].Subscribes(Topic);
        Assert.InRange(TimeToNextView(cluster, cluster.Service.Commit), TimeSpan.Zero, TimeSpan.FromMilliseconds(60));
    }

    [Theory]
    [InlineData(3, 0)]
    [InlineData(4, 0.05)]
    [InlineData(12, 0.05)]
    public void A_publisher_that_crashed_delays_the_next_view_for_some_rounds(int members, double loss)
    {
        var cluster = Running(2, members, members + 2, loss);
        var publisher = cluster[members];
        publisher.PublishAll(Topic, 200, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        publisher.Node.Crash();

        cluster[members + 1].Subscribes(Topic);
        Assert.InRange(
            TimeToNextView(cluster, () => cluster.Service.Remove(publisher.Key)),
            TimeSpan.Zero,
            TimeSpan.FromMilliseconds(loss > 0 ? 600 : 100));
        Assert.Single(cluster.Hosts.Take(members).Select(host => host.Log.Count(one => one.Sender == publisher.Key)).Distinct());
    }

    [Theory]
    [InlineData(3, 0)]
    [InlineData(12, 0)]
    [InlineData(12, 0.05)]
    public void A_member_that_crashed_delays_the_next_view_for_some_rounds(int members, double loss)
    {
        var cluster = Running(3, members, members, loss);
        var member = cluster[1];
        member.PublishAll(Topic, 200, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        member.Node.Crash();

        Assert.InRange(
            TimeToNextView(cluster, () => cluster.Service.Remove(member.Key)),
            TimeSpan.Zero,
            TimeSpan.FromMilliseconds(loss > 0 ? 600 : 150));
    }

    // From the change on, until each member that was there before, and lives, has the view of it.
    private static TimeSpan TimeToNextView(MulticastCluster cluster, Action change)
    {
        int views = cluster[0].Views.Count;
        var members = cluster.Hosts.FindAll(host => host.Node.IsUp && host.Views.Count == views);
        var sender = members[0];
        var began = cluster.Simulation.Now;
        change();
        while (members.Exists(host => host.Views.Count == views) && cluster.Simulation.Now - began < TimeSpan.FromSeconds(20))
        {
            // So that something is always open.
            sender.PublishAll(Topic, 1, 100);
            cluster.Simulation.Run(Step);
        }

        return cluster.Simulation.Now - began;
    }

    private static MulticastCluster Running(ulong seed, int members, int nodes, double loss = 0)
    {
        var cluster = new MulticastCluster(seed, nodes, new LinkModel { Loss = loss })
        {
            Service = { Repair = new RepairRules(Replicas: 3, RingSize: 4) },
        };
        cluster.Service.Pinned.Add(Topic);
        cluster.Hosts.ForEach(static host => host.Publishes(Topic));
        cluster.Hosts.GetRange(0, members).ForEach(static host => host.Subscribes(Topic));
        cluster.Commit();
        return cluster;
    }
}
