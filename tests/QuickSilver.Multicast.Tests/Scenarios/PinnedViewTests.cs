using System.Globalization;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// The views of a pinned topic come between its messages (I6), and a barrier holds its publishers.
public sealed class PinnedViewTests
{
    private const ulong Topic = 1;

    [Fact]
    public void The_first_view_comes_before_the_first_message()
    {
        var cluster = Running(1, members: 3);
        cluster[0].PublishAll(Topic, 50, 100);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.TrueForAll(host => host.Log.Count == 50)));
        foreach (var host in cluster.Hosts)
        {
            var (view, at, _) = Assert.Single(host.Views);
            Assert.Equal(0, at);
            Assert.Equal([.. cluster.Hosts.Select(one => one.Key).Order()], view.Members.ToArray());
            Assert.Equal(view.Members.ToArray(), view.Joined.ToArray());
            Assert.Empty(view.Left);
        }
    }

    [Fact]
    public void Members_are_ranked_by_their_age_in_the_topic_and_not_by_their_keys()
    {
        var cluster = Running(2, members: 0, nodes: 3);
        foreach (int joins in new[] { 2, 0, 1 })
        {
            cluster[joins].Subscribes(Topic);
            cluster.Commit();
        }

        NodeKey[] byAge = [cluster[2].Key, cluster[0].Key, cluster[1].Key];
        Assert.True(cluster.RunUntil(() => cluster.Hosts.TrueForAll(host => host.Views[^1].View.Members.SequenceEqual(byAge))));
        Assert.Equal([cluster[1].Key], cluster[2].Views[^1].View.Joined.ToArray());

        cluster[2].Unsubscribes(Topic);
        cluster.Commit();
        Assert.True(cluster.RunUntil(() => cluster[0].Views[^1].View.Members.SequenceEqual(byAge.Skip(1))));
        Assert.Equal([cluster[2].Key], cluster[0].Views[^1].View.Left.ToArray());
        Assert.Empty(cluster[0].Views[^1].View.Joined);
    }

    // It has nothing of what it had received before, and the members must hear of that.
    [Fact]
    public void A_member_that_closes_the_topic_and_opens_it_again_within_one_configuration_has_left_and_joined()
    {
        var cluster = Running(2, members: 2);
        cluster[0].StopsReceiving(Topic);
        cluster[0].Subscribes(Topic);
        cluster[0].Membership.Renew(Topic);
        cluster.Commit();
        Assert.True(cluster.RunUntil(() => cluster[1].Views.Count == 2));
        var view = cluster[1].Views[1].View;
        Assert.Equal([cluster[1].Key, cluster[0].Key], view.Members.ToArray());
        Assert.Equal([cluster[0].Key], view.Joined.ToArray());
        Assert.Equal([cluster[0].Key], view.Left.ToArray());
    }

    [Fact]
    public void A_message_of_the_new_view_waits_until_all_of_the_old_one_were_delivered()
    {
        var cluster = Running(3, members: 3, nodes: 4, link: new LinkModel { Loss = 0.2 });
        cluster[0].PublishAll(Topic, 300, 300);
        cluster[1].PublishAll(Topic, 300, 300);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        cluster[3].Subscribes(Topic);
        cluster.Service.Commit();
        cluster[0].PublishAll(Topic, 300, 300);
        cluster[1].PublishAll(Topic, 300, 300);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Take(3).All(host => host.Log.Count == 1_200 && host.Views.Count == 2)));
        // All agree on what came before the second view, sender by sender.
        Assert.Single(cluster.Hosts.Take(3).Select(host => Summary(host, 0, host.Views[1].At)).Distinct());
        Assert.True(cluster.RunUntil(() => cluster[3].Log.Count == 1_200 - cluster[0].Views[1].At));
    }

    [Fact]
    public void A_view_waits_for_a_reader_that_has_no_room_for_the_messages_before_it()
    {
        var cluster = Running(4, members: 2, nodes: 3);
        var sink = cluster[1].SinkOf(Topic);
        sink.IsFull = true;
        cluster[0].PublishAll(Topic, 20, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(2, cluster[0].Views.Count);
        Assert.Single(cluster[1].Views);

        sink.IsFull = false;
        cluster[1].Resume(Topic);
        Assert.True(cluster.RunUntil(() => cluster[1].Views.Count == 2));
        Assert.Equal(20, cluster[1].Views[1].At);
    }

    // One member alone has the last message of a sender that crashes, and no node hears of that member for longer than ClosingPause (F1,
    // F3, F6).
    [Theory]
    [InlineData(1, true)]
    [InlineData(2, true)]
    [InlineData(3, true)]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(3, false)]
    public void The_next_view_waits_for_what_a_silent_member_alone_has_of_a_sender_that_is_gone(int silent, bool isPaused)
    {
        var cluster = Running(10, members: 4);
        var (sender, only) = (cluster[0], cluster[silent]);
        CrashWhenOnlyOneHasTheLast(cluster, sender, only);
        if (isPaused)
        {
            cluster.Simulation.Network.Filter = null;
            only.Node.Pause(TimeSpan.FromSeconds(5));
        }
        else
        {
            cluster.Simulation.Network.Filter = (link, _) => link.From == only.Node || link.To == only.Node;
        }

        cluster.Service.Remove(sender.Key);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        cluster.Simulation.Network.Filter = null;
        AssertSurvivorsHaveAllInTheNextView(cluster);
    }

    // I17.
    [Fact]
    public void Views_that_wait_for_a_reader_are_few_however_often_members_come_and_go()
    {
        var cluster = Running(12, members: 2, nodes: 3);
        var sink = cluster[1].SinkOf(Topic);
        sink.IsFull = true;
        cluster[0].PublishAll(Topic, 3, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        for (int i = 0; i < 100; i++)
        {
            cluster[2].Subscribes(Topic);
            cluster.Commit();
            cluster[2].StopsReceiving(Topic);
            cluster.Commit();
        }

        // One that has a message stays.
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster[2].PublishAll(Topic, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        for (int i = 0; i < 100; i++)
        {
            cluster[2].StopsReceiving(Topic);
            cluster.Commit();
            cluster[2].Subscribes(Topic);
            cluster.Commit();
        }

        sink.IsFull = false;
        cluster[1].Resume(Topic);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 4));
        Assert.InRange(cluster[1].Views.Count, 3, 50);
        var last = cluster[1].Views[^1].View;
        Assert.Equal(cluster.Hosts.Max(host => host.Multicast.Configuration), last.Configuration);
        var sentIn = cluster[1].Views.FindLast(seen => seen.At < 4)!.View;
        Assert.Contains(sentIn.Configuration, cluster[0].Views.Where(seen => seen.At == 3).Select(seen => seen.View.Configuration));
        for (int i = 1; i < cluster[1].Views.Count; i++)
        {
            var (before, now) = (cluster[1].Views[i - 1].View, cluster[1].Views[i].View);
            Assert.Equal(now.Members.ToHashSet(), [.. before.Members.Except(now.Left), .. now.Joined]);
        }
    }

    // The same in a view of several rings, where a member hears of the silence in another ring from no node.
    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    [InlineData(8)]
    [InlineData(9)]
    public void The_next_view_waits_for_a_silent_member_of_another_ring(int silent)
    {
        var cluster = new MulticastCluster(1, 10) { Service = { Repair = new RepairRules(Replicas: 3, RingSize: 3) } };
        cluster.Service.Pinned.Add(Topic);
        foreach (var host in cluster.Hosts)
        {
            host.Publishes(Topic);
            host.Subscribes(Topic);
        }

        cluster.Commit();
        var (sender, only) = (cluster[0], cluster[silent]);
        CrashWhenOnlyOneHasTheLast(cluster, sender, only);
        only.Node.Pause(TimeSpan.FromSeconds(5));
        cluster.Simulation.Network.Filter = null;
        cluster.Service.Remove(sender.Key);
        AssertSurvivorsHaveAllInTheNextView(cluster);
    }

    // I17.
    [Fact]
    public void A_sender_that_sends_in_every_view_waits_for_a_reader_that_has_not_come_to_them()
    {
        var cluster = Running(13, members: 2, nodes: 3);
        var sink = cluster[1].SinkOf(Topic);
        sink.IsFull = true;
        cluster[0].PublishAll(Topic, 3, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        int sent = 0;
        for (int i = 0; i < 50; i++)
        {
            cluster[2].Subscribes(Topic);
            cluster.Commit();
            cluster[2].OnCore(() => sent += cluster[2].Publish(Topic, 100) ? 1 : 0);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            cluster[2].StopsReceiving(Topic);
            cluster.Commit();
            cluster[2].OnCore(() => sent += cluster[2].Publish(Topic, 100) ? 1 : 0);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.InRange(sent, 1, 5);
        Assert.InRange(cluster[1].Multicast.Regions.Count, 1, 10);

        sink.IsFull = false;
        cluster[1].Resume(Topic);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 3 + sent));
        cluster[2].PublishAll(Topic, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 3 + sent + 10));
    }

    [Fact]
    public void A_barrier_holds_the_publishers_of_its_node_until_it_is_released()
    {
        var cluster = Running(5, members: 2, nodes: 3);
        var sink = cluster[0].SinkOf(Topic);
        sink.KeepsBarriers = true;
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        var barrier = Assert.Single(sink.Barriers);
        Assert.Equal(cluster[2].Views[0].View.Configuration, barrier.Configuration);
        cluster[0].PublishAll(Topic, 10, 100);
        cluster[1].PublishAll(Topic, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.All(cluster.Hosts, host => Assert.Equal(10, host.Log.Count));
        Assert.Equal(2, cluster[0].Views.Count);

        cluster[0].OnCore(barrier.Release);
        cluster[0].OnCore(barrier.Release);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.TrueForAll(host => host.Log.Count == 20)));
    }

    [Fact]
    public void A_barrier_that_is_never_released_is_named_as_what_the_publisher_waits_for()
    {
        var cluster = Running(6, members: 2, nodes: 3);
        cluster[0].SinkOf(Topic).KeepsBarriers = true;
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Trouble is not null));
        Assert.Contains("flush barrier", cluster[0].Multicast.Trouble, StringComparison.Ordinal);
    }

    // I21.
    [Fact]
    public void A_view_that_waits_for_a_sender_of_the_one_before_is_named_at_each_member()
    {
        var cluster = Running(11, members: 3, nodes: 4);
        cluster[0].PublishAll(Topic, 20, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster[0].Node.Pause(TimeSpan.FromSeconds(9));
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        Assert.All(cluster.Hosts.Skip(1).Take(2), host => Assert.Single(host.Views));
        Assert.All(cluster.Hosts.Skip(1).Take(2), host => Assert.Contains("A view of topic 1 waits", host.Multicast.Trouble));
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Take(3).All(host => host.Views.Count == 2)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.All(cluster.Hosts, host => Assert.Null(host.Multicast.Trouble));
    }

    [Fact]
    public void A_subscription_that_closes_lets_its_barrier_go()
    {
        var cluster = Running(7, members: 2, nodes: 3);
        cluster[0].SinkOf(Topic).KeepsBarriers = true;
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Empty(cluster[1].Log);

        cluster[0].ReceiverOf(Topic).Close();
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 10));
    }

    [Fact]
    public void An_unsubscribed_publisher_is_not_held_and_its_messages_wait_for_the_view()
    {
        var cluster = Running(8, members: 0, nodes: 3);
        cluster[1].Subscribes(Topic);
        cluster.Commit();
        cluster[2].Subscribes(Topic);
        cluster.Service.Commit();
        cluster[0].PublishAll(Topic, 100, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 100 && cluster[1].Views.Count == 2));
    }

    [Fact]
    public void A_best_effort_topic_cannot_be_pinned()
    {
        var cluster = Running(9, members: 0);
        var channel = new ChannelSpec(Topic) { Reliability = Reliability.BestEffort, IsPinned = true };
        Assert.Throws<ArgumentException>(() => cluster[0].Multicast.OpenPublisher(channel));
    }

    // Of two members that go from one view to the next both deliver the same of each sender in the first (I6), and all agree on the
    // members of a view and their ranks.
    [Fact]
    public void Members_that_go_from_view_to_view_together_deliver_the_same_in_between()
    {
        int compared = 0;
        for (ulong seed = 1; seed <= 60; seed++)
        {
            var chance = new Random((int)seed);
            var link = new LinkModel { Loss = chance.NextDouble() * 0.2, Jitter = TimeSpan.FromMilliseconds(chance.Next(3)) };
            var cluster = Running(seed, members: 4, nodes: 6, link);
            var churn = new PinnedChurn(cluster, Topic, chance, crashOneIn: 4);
            churn.Run(steps: 8);

            // Each sender's last message is sent in the last view.
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
            var left = churn.Left.ToList();
            var members = left.Where(host => host.IsSubscribed(Topic)).ToList();
            var before = left.ToDictionary(host => host, host => host.Published.Count);
            left.ForEach(host => host.PublishAll(Topic, 1, 100));
            bool isDone = cluster.RunUntil(
                () => left.TrueForAll(sender => sender.Published.Count > before[sender]
                    && members.TrueForAll(host => host.SequencesOf(sender.Key, Topic).LastOrDefault()
                        == sender.Published.Keys.Max(one => one.Sequence))),
                seconds: 60);
            var counts = members.Select(host => $"{host.Key}: {host.Views.Count} views, {host.Log.Count}");
            Assert.True(isDone, $"Seed {seed}: {string.Join(' ', counts)}");
            compared += AssertSynchrony(seed, [.. cluster.Hosts]);
        }

        Assert.InRange(compared, 100, int.MaxValue);
    }

    private static int AssertSynchrony(ulong seed, List<Host> hosts)
    {
        int compared = 0;
        foreach (var one in hosts)
        {
            for (int i = 0; i < one.Views.Count; i++)
            {
                var view = one.Views[i].View;
                Assert.Contains(one.Key, view.Members);
                foreach (var other in hosts)
                {
                    int at = other.Views.FindIndex(seen => seen.View.Configuration == view.Configuration);
                    if (at < 0)
                    {
                        continue;
                    }

                    Assert.Equal(view.Members.ToArray(), other.Views[at].View.Members.ToArray());
                    if (one != other && Next(one, i) is { } next && Next(other, at) is { } otherNext
                        && next.View.Configuration == otherNext.View.Configuration)
                    {
                        compared++;
                        Assert.True(
                            Summary(one, one.Views[i].At, next.At) == Summary(other, other.Views[at].At, otherNext.At),
                            $"Seed {seed}: nodes {one.Key} and {other.Key} delivered other messages in {view}.");
                    }
                }
            }
        }

        return compared;
    }

    // The view after one in the same subscription.
    private static SeenView? Next(Host host, int place) =>
        place + 1 < host.Views.Count && host.Views[place + 1].By == host.Views[place].By ? host.Views[place + 1] : null;

    // What was delivered of each sender.
    private static string Summary(Host host, int from, int to) => string.Join(
        ' ',
        host.Log.GetRange(from, to - from).GroupBy(one => one.Sender).OrderBy(group => group.Key).Select(group => string.Create(
            CultureInfo.InvariantCulture, $"{group.Key}:{group.First().Sequence}-{group.Last().Sequence}")));

    // The last of six messages reached one member alone.
    private static void CrashWhenOnlyOneHasTheLast(MulticastCluster cluster, Host sender, Host only)
    {
        sender.PublishAll(Topic, 5, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.Network.Filter = (link, _) => link.From == sender.Node && link.To != only.Node;
        sender.PublishAll(Topic, 1, 100);
        Assert.True(cluster.RunUntil(() => only.Log.Count == 6));
        sender.Node.Crash();
    }

    private static void AssertSurvivorsHaveAllInTheNextView(MulticastCluster cluster)
    {
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Views.Count == 2)));
        Assert.All(cluster.Hosts.Skip(1), host => Assert.Equal(6, host.Views[1].At));
    }

    private static MulticastCluster Running(ulong seed, int members, int nodes = 0, LinkModel? link = null)
    {
        var cluster = new MulticastCluster(seed, Math.Max(nodes, Math.Max(members, 1)), link);
        cluster.Service.Pinned.Add(Topic);
        foreach (var host in cluster.Hosts)
        {
            host.Publishes(Topic);
        }

        foreach (var host in cluster.Hosts.Take(members))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }
}
