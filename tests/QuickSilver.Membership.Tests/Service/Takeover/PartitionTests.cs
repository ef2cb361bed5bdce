using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// I23, I9, F3: a network that is torn and heals costs no node the membership, whichever node hosted before, meanwhile or after.
public sealed class PartitionTests
{
    private const int NodeCount = 10;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // How many nodes are on each side; the host is on the first.
    public static TheoryData<int[], double> Partitions()
    {
        var data = new TheoryData<int[], double>();
        int[][] sides = [[1, 9], [2, 8], [4, 6], [5, 5], [6, 4], [9, 1], [4, 3, 3], [3, 3, 4], [2, 7, 1], [1, 1, 8]];
        foreach (int[] side in sides)
        {
            // Below the silence after which clients look for another host; while they elect one; while that gathers; before
            // and after the old host removes them.
            foreach (double seconds in new[] { 3, 5.3, 6.2, 8, 10.5, 12, 20 })
            {
                data.Add(side, seconds);
            }
        }

        return data;
    }

    [Theory]
    [MemberData(nameof(Partitions))]
    public void A_partition_that_heals_costs_no_node_its_membership(int[] sides, double seconds)
    {
        for (ulong seed = 1; seed <= 3; seed++)
        {
            var cluster = new Cluster(seed);
            cluster.Tear(sides);
            cluster.Run(seconds);
            cluster.Machines.Network.Reconnect();
            cluster.Run(20);
            cluster.CheckWhole($"{string.Join('/', sides)} for {seconds} s, seed {seed}");
        }
    }

    [Theory]
    [InlineData(12)]
    [InlineData(20)]
    public void The_line_with_more_members_continues_and_its_nodes_lose_nothing(double seconds)
    {
        foreach (int[] sides in new int[][] { [1, 9], [4, 6], [6, 4], [4, 3, 3], [2, 7, 1] })
        {
            var cluster = new Cluster(seed: 5);
            var parts = cluster.Tear(sides);
            cluster.Run(seconds);
            var winners = parts.MaxBy(part => part.Length)!;
            ulong line = winners[0].Changes[^1].Service;
            var admitted = winners.ToDictionary(node => node.Key, node => node.Nodes[node.Key].AdmittedAt);
            Assert.All(winners, node => Assert.Equal(line, node.Changes[^1].Service));
            cluster.Machines.Network.Reconnect();
            cluster.Run(20);
            Assert.All(cluster.Nodes, node => Assert.Equal(line, node.Changes[^1].Service));
            Assert.All(winners, node => Assert.Equal(admitted[node.Key], node.Nodes[node.Key].AdmittedAt));
            cluster.CheckWhole(string.Join('/', sides));
        }
    }

    [Fact]
    public void Of_two_halves_the_one_with_the_newer_configuration_continues()
    {
        var cluster = new Cluster(seed: 6);
        var parts = cluster.Tear([5, 5]);
        cluster.Run(20);
        // That of the new host, which numbers above all that the old one had made.
        Assert.True(parts[1][0].Changes[^1].Number > parts[0][0].Changes[^1].Number);
        ulong line = parts[1][0].Changes[^1].Service;
        cluster.Machines.Network.Reconnect();
        cluster.Run(20);
        Assert.All(cluster.Nodes, node => Assert.Equal(line, node.Changes[^1].Service));
        cluster.CheckWhole("5/5");
    }

    [Fact]
    public void Nodes_that_come_over_from_the_smaller_side_continue_with_each_other()
    {
        var cluster = new Cluster(seed: 7);
        var parts = cluster.Tear([6, 4]);
        cluster.Run(20);
        cluster.Machines.Network.Reconnect();
        cluster.Run(20);
        var admissions = parts[1].Select(node => node.Nodes[node.Key]).Select(info => (info.AdmittedAt, info.Origin)).Distinct();
        Assert.Single(admissions);
    }

    [Fact]
    public void Clocks_that_are_years_apart_do_not_determine_which_side_continues()
    {
        for (ulong seed = 1; seed <= 4; seed++)
        {
            var cluster = new Cluster(seed, number => TimeSpan.FromDays(365 * 30 * (number % 2 == 0 ? 1 : -1)));
            var parts = cluster.Tear([1, 9]);
            cluster.Run(12);
            ulong line = parts[1][0].Changes[^1].Service;
            cluster.Machines.Network.Reconnect();
            cluster.Run(20);
            Assert.All(cluster.Nodes, node => Assert.Equal(line, node.Changes[^1].Service));
            cluster.CheckWhole($"seed {seed}");
        }
    }

    private sealed class Cluster
    {
        public Cluster(ulong seed, Func<int, TimeSpan>? clockErrorOf = null)
        {
            Machines = new SimulatedMachines(seed);
            foreach (var machine in Machines.AddNodes(NodeCount))
            {
                machine.ClockStep = clockErrorOf?.Invoke(machine.Number) ?? TimeSpan.Zero;
            }

            Nodes = [.. Machines.Nodes.Select(Begin)];
            Run(10);
            Host = Nodes.Single(node => node.Client.HostedService is not null);
            Assert.All(Nodes, node => Assert.Equal(NodeCount, node.Nodes.Count));
        }

        public SimulatedMachines Machines { get; }

        public FakeNode[] Nodes { get; }

        public FakeNode Host { get; }

        public void Run(double seconds) => Machines.Run(Second * seconds);

        public FakeNode[][] Tear(int[] sides)
        {
            FakeNode[] order = [Host, .. Nodes.Where(node => node != Host)];
            int first = 0;
            FakeNode[][] parts = [.. sides.Select(size => order[first..(first += size)])];
            for (int i = 0; i < parts.Length; i++)
            {
                for (int j = i + 1; j < parts.Length; j++)
                {
                    Machines.Network.Partition(Numbers(parts[i]), Numbers(parts[j]));
                }
            }

            return parts;
        }

        public void CheckWhole(string where)
        {
            Assert.All(Nodes, node => Assert.True(node.Expelled is null, $"{where}: {node.Key} was expelled: {node.Expelled}"));
            Assert.True(Nodes.Count(node => node.Client.HostedService is not null) == 1, $"{where}: more than one host");
            Assert.All(Nodes, node => Assert.Equal(NodeCount, node.Nodes.Count));
            Assert.Single(Nodes.Select(node => node.Changes[^1].Number).Distinct());
            ulong[] all = [.. Nodes.Select(node => node.Key.Id)];
            Assert.All(Nodes, node => Assert.Equal([all], node.MembersOf("A")));
            Assert.All(Nodes, node => Assert.Equal(node.Changes[^1].Number, node.Settled));
        }

        private int[] Numbers(FakeNode[] nodes) => [.. nodes.Select(node => Array.IndexOf(Nodes, node))];

        private static FakeNode Begin(SimulatedMachine machine)
        {
            var node = new FakeNode(machine.Environment, new MembershipClientOptions
            {
                Self = new NodeKey((ulong)machine.Number + 1, 1),
                EndPoint = new IPEndPoint(machine.Address, 5000),
            });
            node.Client.Start();
            node.Subscribe("A");
            return node;
        }
    }
}
