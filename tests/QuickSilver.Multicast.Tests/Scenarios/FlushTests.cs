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
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(2);

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

    [Theory]
    [InlineData(3, 0)]
    [InlineData(12, 0)]
    [InlineData(12, 0.05)]
    public void A_member_that_closes_its_subscription_delays_the_next_view_for_some_rounds(int members, double loss)
    {
        var cluster = Running(4, members, members, loss);
        var member = cluster[1];
        member.PublishAll(Topic, 200, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));

        var took = TimeToNextView(cluster, () =>
        {
            member.StopsReceiving(Topic);
            cluster.Service.Commit();
        });
        Assert.InRange(took, TimeSpan.Zero, TimeSpan.FromMilliseconds(loss > 0 ? 200 : 50));
    }

    [Theory]
    [InlineData(3, 0)]
    [InlineData(12, 0)]
    [InlineData(12, 0.05)]
    public void A_node_that_leaves_in_order_delays_the_next_view_for_some_rounds(int members, double loss)
    {
        var cluster = Running(5, members, members, loss);
        var member = cluster[1];
        member.PublishAll(Topic, 200, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        bool isStable = false;
        member.OnCore(() => member.Multicast.WhenStable(() => isStable = true));
        Assert.True(cluster.RunUntil(() => isStable));

        var took = TimeToNextView(cluster, () =>
        {
            member.Unsubscribes(Topic);
            member.StopsPublishing(Topic);
            member.Node.Crash();
            cluster.Service.Remove(member.Key);
        });
        Assert.InRange(took, TimeSpan.Zero, TimeSpan.FromMilliseconds(loss > 0 ? 200 : 50));
        Assert.All(
            cluster.Hosts.Where(static host => host.Node.IsUp),
            host => Assert.True(MulticastCluster.HasAll(host, member.Key, Topic, 200)));
    }

    // It may still send in the view before, so all others wait for it, and for nothing else.
    [Theory]
    [InlineData(3, 0)]
    [InlineData(12, 0)]
    [InlineData(12, 0.05)]
    public void A_member_that_is_silent_delays_a_join_until_it_speaks(int members, double loss)
    {
        var cluster = Running(6, members, members + 1, loss);
        var silent = cluster[1];
        silent.PublishAll(Topic, 200, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        silent.Node.Pause(Silence);
        var speaks = cluster.Simulation.Now + Silence;
        cluster[members].Subscribes(Topic);

        TimeToNextView(cluster, cluster.Service.Commit, during: () =>
        {
            if (speaks - cluster.Simulation.Now is { Ticks: > 0 } left && left < Silence / 2)
            {
                long last = cluster.Service.Members.Max(static member => member.Confirmed);
                Assert.Equal([silent.Key], cluster.Service.Members.Where(member => member.Confirmed < last).Select(static one => one.Self));
            }
        });
        Assert.InRange(cluster.Simulation.Now - speaks, TimeSpan.Zero, TimeSpan.FromMilliseconds(loss > 0 ? 200 : 50));
    }

    // From the change on, until each member that was there before, and lives, has the view of it.
    private static TimeSpan TimeToNextView(MulticastCluster cluster, Action change, Action? during = null)
    {
        int views = cluster[0].Views.Count;
        var sender = cluster[0];
        var before = cluster.Hosts.FindAll(host => host.Views.Count == views);
        var began = cluster.Simulation.Now;
        change();
        var members = before.FindAll(static host => host.Node.IsUp && host.IsSubscribed(Topic));
        while (members.Exists(host => host.Views.Count == views) && cluster.Simulation.Now - began < TimeSpan.FromSeconds(20))
        {
            // So that something is always open.
            sender.PublishAll(Topic, 1, 100);
            cluster.Simulation.Run(Step);
            during?.Invoke();
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
