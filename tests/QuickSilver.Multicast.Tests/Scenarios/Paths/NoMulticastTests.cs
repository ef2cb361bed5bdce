using QuickSilver.Core.Requests;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Scenarios.Paths;

// F12: what is sent to groups does not arrive, everywhere, at one member or between two, while unicast works.
public sealed class NoMulticastTests
{
    private const ulong Topic = 1;
    private const double SecondsUntilServed = 3;
    private static readonly LinkModel Off = new() { MulticastOff = true };
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(2)]
    [InlineData(5)]
    [InlineData(20)]
    public void On_a_network_without_multicast_everything_arrives_and_the_first_message_soon(int nodes)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Publishing(seed, nodes, Off);
            cluster[0].PublishAll(Topic, 1, 300);
            Assert.True(cluster.RunUntil(() => AllGot(cluster, 1), SecondsUntilServed), $"Seed {seed}: no first message.");
            cluster[0].PublishAll(Topic, 2_000, 300);
            Assert.True(cluster.RunUntil(() => AllGot(cluster, 2_001), 10), $"Seed {seed}: {Counts(cluster)}");
            Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 2_001));
        }
    }

    [Fact]
    public void A_sender_that_is_a_member_too_and_many_senders_are_served_alike()
    {
        var cluster = new MulticastCluster(1, 5, Off);
        foreach (var host in cluster.Hosts)
        {
            host.Publishes(Topic);
            host.Subscribes(Topic);
        }

        cluster.Commit();
        foreach (var host in cluster.Hosts)
        {
            host.PublishAll(Topic, 1_000, 300);
        }

        Assert.True(
            cluster.RunUntil(() => cluster.Hosts.All(host => host.Log.Count == 5_000), 20),
            $"{Counts(cluster)}");
        Assert.True(cluster.RunUntil(() => cluster.Hosts.All(host => Deaf(host) == 4), SecondsUntilServed),
            string.Join(' ', cluster.Hosts.Select(Deaf)));
    }

    [Fact]
    public void A_member_that_does_not_hear_is_named_at_both_ends_within_three_seconds_and_gets_copies()
    {
        var cluster = Publishing(1, 4, Off);
        cluster[0].PublishAll(Topic, 1, 300);
        cluster.Simulation.Run(Second * SecondsUntilServed);

        Assert.Equal(3, Deaf(cluster[0]));
        Assert.Contains(
            $"3 nodes to which this node sends do not hear it over multicast, for example {cluster[1].Key} at", Trouble(cluster[0]));
        Assert.All(cluster.Hosts.Skip(1), host =>
        {
            Assert.Equal(1, host.Multicast.Counters.UnheardSenders);
            Assert.Contains($"does not hear 1 sender over multicast, for example {cluster[0].Key} at", Trouble(host));
        });

        long repairs = Repairs(cluster);
        cluster[0].PublishAll(Topic, 1_000, 300);
        Assert.True(cluster.RunUntil(() => AllGot(cluster, 1_001), 2));
        Assert.Equal(repairs, Repairs(cluster));
        Assert.Equal(3 * (cluster[0].Multicast.Counters.PacketsSent - 1), cluster[0].Multicast.Counters.CopiesSent);
    }

    [Theory]
    [InlineData("all")]
    [InlineData("one member")]
    [InlineData("one pair")]
    [InlineData("every other member")]
    public void When_multicast_stops_in_the_middle_nothing_waits_longer_than_three_seconds(string where)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Publishing(seed, 9);
            var steady = Steadily(cluster, TimeSpan.FromMilliseconds(5));
            cluster.Simulation.Run(Second * 2);
            int deaf = Stop(cluster, where);

            Assert.True(
                cluster.RunUntil(() => Deaf(cluster[0]) == deaf, SecondsUntilServed),
                $"Seed {seed}, {where}: {Deaf(cluster[0])} of {deaf} are known to be deaf.");
            cluster.Simulation.Run(Second);
            Assert.Equal(deaf, Deaf(cluster[0]));
            int sent = steady();
            Assert.True(cluster.RunUntil(() => AllGot(cluster, sent), 1), $"Seed {seed}, {where}: {Counts(cluster)}");
            Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, first: 1));
            Assert.All(cluster.Hosts.Skip(1), host => Assert.Empty(host.Gaps));

            // No member lives on repairs.
            long repairs = Repairs(cluster);
            cluster.Simulation.Run(Second * 2);
            Assert.InRange(Repairs(cluster) - repairs, 0, 5);
        }
    }

    [Theory]
    [InlineData("all")]
    [InlineData("one member")]
    [InlineData("one pair")]
    [InlineData("every other member")]
    public void A_member_that_hears_the_group_again_gets_no_copies_any_more(string where)
    {
        var cluster = Publishing(2, 9);
        var steady = Steadily(cluster, TimeSpan.FromMilliseconds(5));
        int deaf = Stop(cluster, where);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == deaf, SecondsUntilServed + 1));
        cluster.Simulation.Network.Heal();
        cluster.Hosts.ForEach(host => host.Node.Faults.IsOutOfGroups = false);

        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 0, 6), $"{Deaf(cluster[0])} are considered deaf.");
        cluster.Simulation.Run(Second * 2);
        long copies = cluster[0].Multicast.Counters.CopiesSent;
        cluster.Simulation.Run(Second * 2);
        Assert.Equal(copies, cluster[0].Multicast.Counters.CopiesSent);
        Assert.All(cluster.Hosts, host => Assert.Null(Trouble(host)));
        int sent = steady();
        Assert.True(cluster.RunUntil(() => AllGot(cluster, sent), 1));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, first: 1));
    }

    [Fact]
    public void Multicast_that_comes_back_is_found_although_nothing_is_sent()
    {
        var cluster = Publishing(3, 4, Off);
        cluster[0].PublishAll(Topic, 10, 300);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 3, SecondsUntilServed));
        cluster.Simulation.Network.Model = new LinkModel();

        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 0, 30));
    }

    [Fact]
    public void Best_effort_streams_are_served_within_three_seconds_too()
    {
        var cluster = Publishing(4, 20, Off, reliable: false);
        Steadily(cluster, TimeSpan.FromMilliseconds(10));
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 19, SecondsUntilServed));

        int before = cluster[0].Published.Count;
        cluster.Simulation.Run(Second * 2);
        Assert.All(cluster.Hosts.Skip(1), host =>
            Assert.Equal(Enumerable.Range(before + 1, 190), Last(host, before).Take(190)));

        static IEnumerable<int> Last(Host host, int after) =>
            host.Log.Select(one => (int)one.Sequence).Where(sequence => sequence > after);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.2)]
    public void Loss_is_not_taken_for_a_group_that_does_not_reach(double loss)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Publishing(seed, 5, new LinkModel { Loss = loss });
            Steadily(cluster, TimeSpan.FromMilliseconds(400));
            long words = Words(cluster, Second * 20);

            Assert.Equal(0, cluster[0].Multicast.Counters.CopiesSent);
            Assert.All(cluster.Hosts, host => Assert.Null(Trouble(host)));
            Assert.InRange(words, 0, loss == 0 ? 0 : 100);
        }
    }

    [Fact]
    public void A_sender_that_stood_still_is_not_taken_for_one_that_cannot_be_heard()
    {
        var cluster = Publishing(5, 4);
        Steadily(cluster, TimeSpan.FromMilliseconds(5));
        cluster.Simulation.Run(Second);
        for (int i = 0; i < 5; i++)
        {
            cluster[0].Node.Pause();
            cluster.Simulation.Run(Second * 3);
            cluster[0].Node.Resume();
            cluster.Simulation.Run(Second * 2);
        }

        Assert.Equal(0, cluster[0].Multicast.Counters.CopiesSent);
    }

    [Fact]
    public void A_member_known_to_be_deaf_gets_the_first_message_in_a_new_region_at_once()
    {
        const ulong Other = 2;
        var cluster = Publishing(6, 4, Off);
        cluster[0].PublishAll(Topic, 10, 300);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 3, SecondsUntilServed));
        cluster[0].Publishes(Other);
        cluster[2].Subscribes(Other);
        cluster[3].Subscribes(Other);
        cluster.Commit();
        cluster[0].PublishAll(Other, 1, 300);

        var members = cluster.Hosts.Skip(2).ToList();
        Assert.True(cluster.RunUntil(() => members.TrueForAll(host => MulticastCluster.HasAll(host, cluster[0].Key, Other, 1)), 0.03));
    }

    [Fact]
    public void A_member_wrongly_considered_deaf_in_a_new_region_says_so()
    {
        const ulong Other = 2;
        var cluster = Publishing(7, 4, Off);
        cluster[0].PublishAll(Topic, 10, 300);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 3, SecondsUntilServed));
        cluster[0].Publishes(Other);
        cluster[2].Subscribes(Other);
        cluster.Commit();
        cluster.Simulation.Network.Model = new LinkModel();
        cluster[0].PublishAll(Other, 1, 300);
        Assert.True(cluster.RunUntil(() => !cluster[0].Multicast.Context.Sending.Deaf.IsServed(2, cluster[2].Key), 10));

        // And in the region in which nothing is sent.
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 0, 60));
        cluster.Simulation.Run(Second * 2);
        Assert.All(cluster.Hosts, host => Assert.Null(Trouble(host)));
    }

    [Fact]
    public void A_member_that_restarts_is_found_deaf_again_and_the_one_before_is_forgotten()
    {
        var cluster = Publishing(8, 3, Off);
        cluster[0].PublishAll(Topic, 10, 300);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 2, SecondsUntilServed));
        var before = cluster[2].Key;
        cluster[2].Node.Crash();
        cluster.Service.Remove(before);
        var again = cluster.Restart(2);
        again.Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 10, 300);

        Assert.True(cluster.RunUntil(() => MulticastCluster.HasAll(again, cluster[0].Key, Topic, 10), SecondsUntilServed));
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 2, SecondsUntilServed));
    }

    [Fact]
    public void Where_the_socket_has_no_room_the_copies_wait_and_continue_from_there()
    {
        var cluster = Publishing(11, 6, Off);
        cluster[0].PublishAll(Topic, 1, 300);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 5, SecondsUntilServed));
        cluster.Simulation.Run(Second);
        long repairs = Repairs(cluster);
        cluster[0].Node.Model = cluster[0].Node.Model with { SendBusyProbability = 0.3 };
        cluster[0].PublishAll(Topic, 3_000, 500);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 3_001), 20), Counts(cluster));
        Assert.True(cluster[0].Multicast.Counters.BusySends > 5);
        Assert.InRange(Repairs(cluster) - repairs, 0, 20);
    }

    [Fact]
    public void A_view_of_two_hundred_learns_of_it_with_few_packets()
    {
        var cluster = Publishing(10, 201, Off);
        long carried = 0;
        cluster.Simulation.Network.Filter = (_, packet) =>
        {
            carried += new PacketHeader(packet) is { Kind: PacketKind.Hearing or PacketKind.Announce } ? 1 : 0;
            return false;
        };
        cluster[0].PublishAll(Topic, 10, 300);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 10), SecondsUntilServed), Counts(cluster));
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 200, SecondsUntilServed), $"{Deaf(cluster[0])} of 200");
        // Each asks some times and is answered; probes and announcements over the group are one for each member in the simulator.
        Assert.InRange(carried, 200, 200 * 60);
    }

    [Fact]
    public void With_multicast_alone_the_deaf_are_named_and_live_on_repairs()
    {
        var options = new MulticastOptions { ClusterId = 7, CopiesToDeaf = false };
        var cluster = Publishing(11, 4, Off, options: options);
        cluster[0].PublishAll(Topic, 500, 300);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 500), 20), Counts(cluster));
        cluster.Simulation.Run(Second * 2);
        Assert.Equal(0, cluster[0].Multicast.Counters.CopiesSent);
        Assert.Contains("repairs only", Trouble(cluster[0]));
    }

    [Fact]
    public void A_node_that_sends_copies_by_choice_is_asked_no_more()
    {
        var cluster = new MulticastCluster(12, 0);
        AddHost(cluster, new MulticastOptions { ClusterId = 7, Unicast = true });
        AddHost(cluster, new MulticastOptions { ClusterId = 7 });
        AddHost(cluster, new MulticastOptions { ClusterId = 7 });
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        Steadily(cluster, TimeSpan.FromMilliseconds(5));
        cluster.Simulation.Run(Second * 2);
        long words = Words(cluster, Second * 5);

        Assert.Equal(0, words);
        Assert.All(cluster.Hosts, host => Assert.Null(Trouble(host)));
    }

    [Fact]
    public void A_node_without_groups_by_choice_gets_copies_from_the_nodes_that_use_them()
    {
        var cluster = new MulticastCluster(13, 0);
        AddHost(cluster, new MulticastOptions { ClusterId = 7 });
        AddHost(cluster, new MulticastOptions { ClusterId = 7 });
        AddHost(cluster, new MulticastOptions { ClusterId = 7, Unicast = true });
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 2_000, 300);

        Assert.True(cluster.RunUntil(() => AllGot(cluster, 2_000), SecondsUntilServed), Counts(cluster));
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 1, SecondsUntilServed));
        Assert.Null(Trouble(cluster[2]));
    }

    [Fact]
    public void A_member_whose_port_in_the_group_is_refused_gets_copies_until_it_is_open()
    {
        var cluster = new MulticastCluster(14, 4);
        cluster[0].Publishes(Topic);
        cluster.Hosts.Skip(1).ToList().ForEach(host => host.Subscribes(Topic));
        cluster[3].Node.Faults.Refusals.Begin(SystemCalls.OpenGroup);
        cluster.Commit();
        var steady = Steadily(cluster, TimeSpan.FromMilliseconds(5));
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 1, SecondsUntilServed));
        long repairs = Repairs(cluster);
        cluster.Simulation.Run(Second * 2);
        Assert.InRange(Repairs(cluster) - repairs, 0, 5);

        cluster[3].Node.Faults.Refusals.End(SystemCalls.OpenGroup);
        Assert.True(cluster.RunUntil(() => Deaf(cluster[0]) == 0, 10));
        int sent = steady();
        Assert.True(cluster.RunUntil(() => AllGot(cluster, sent), 1));
        MulticastCluster.AssertRun(cluster[3], cluster[0], Topic, first: 1);
    }

    private static void AddHost(MulticastCluster cluster, MulticastOptions options) =>
        cluster.Hosts.Add(new Host(cluster, cluster.Simulation.AddNodes(1)[^1], options));

    private static MulticastCluster Publishing(
        ulong seed, int nodes, LinkModel? link = null, bool reliable = true, MulticastOptions? options = null)
    {
        var cluster = new MulticastCluster(seed, nodes, link, options);
        cluster[0].Publishes(Topic, reliable);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic, reliable);
        }

        cluster.Commit();
        return cluster;
    }

    // Publishes forever; the function gives how many messages were sent until now.
    private static Func<int> Steadily(MulticastCluster cluster, TimeSpan interval)
    {
        var life = cluster[0].Node.Environment;
        void Go()
        {
            life.Post(new ActionRequest(() => cluster[0].Publish(Topic, 300)));
            cluster.Simulation.After(interval, Go);
        }

        Go();
        return () => cluster[0].Published.Count;
    }

    // How many members do not hear node 0 then.
    private static int Stop(MulticastCluster cluster, string where)
    {
        switch (where)
        {
            case "all":
                cluster.Simulation.Network.Model = Off;
                return cluster.Hosts.Count - 1;
            case "one member":
                cluster[3].Node.Faults.IsOutOfGroups = true;
                return 1;
            case "one pair":
                cluster.Simulation.Network.Link(0, 5).SetModel(Off);
                return 1;
            default:
                for (int i = 1; i < cluster.Hosts.Count; i += 2)
                {
                    cluster[i].Node.Faults.IsOutOfGroups = true;
                }

                return cluster.Hosts.Count / 2;
        }
    }

    // Hearing packets carried while so much time passes.
    private static long Words(MulticastCluster cluster, TimeSpan time)
    {
        long words = 0;
        cluster.Simulation.Network.Filter = (_, packet) =>
        {
            words += new PacketHeader(packet) is { Kind: PacketKind.Hearing } ? 1 : 0;
            return false;
        };
        cluster.Simulation.Run(time);
        return words;
    }

    private static string? Trouble(Host host) => host.Multicast.Context.Troubles.First;

    private static int Deaf(Host host) => host.Multicast.Context.Sending.Deaf.Deaf().Count;

    private static long Repairs(MulticastCluster cluster) => cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent);

    private static bool AllGot(MulticastCluster cluster, int count) =>
        cluster.Hosts.Skip(1).All(host => MulticastCluster.HasAll(host, cluster[0].Key, Topic, count));

    private static string Counts(MulticastCluster cluster) => string.Join(' ', cluster.Hosts.Select(host => host.Log.Count));
}
