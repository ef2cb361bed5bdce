using QuickSilver.Groups;
using QuickSilver.Multicast;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters;

// What a process group costs while nothing is sent in it: a process may be in hundreds. The bounds stand some way above what is measured
// (docs/groups.md).
[Collection(nameof(MemoryTests))]
public sealed class IdleGroupTests(ITestOutputHelper output)
{
    private const int Nodes = 8;
    private const int Groups = 200;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_group_that_was_used_and_is_idle_costs_its_member_half_a_packet_a_second_and_less_than_64_KB()
    {
        long before = LiveHeap.Bytes();
        using var cluster = Begin(Groups, out var members);
        long unused = (LiveHeap.Bytes() - before) / members.Count;
        foreach (var one in members)
        {
            cluster.RunUntilCompleted(one.SendAsync("once").AsTask());
        }

        cluster.Run(30 * Second);
        var (sent, received) = Packets(cluster);
        cluster.Run(60 * Second);
        var (sentLater, receivedLater) = Packets(cluster);
        double tokens = (sentLater - sent) / 60.0 / Groups;
        double packets = (receivedLater - received) / 60.0 / Groups;
        // Packet memory is a reserve of the node, of which streams that rest leave half to others.
        long used = (LiveHeap.Bytes() - before - PacketMemory(cluster)) / members.Count;

        output.WriteLine(
            $"{members.Count} memberships, {unused:N0} B each unused, {used:N0} B used; {tokens:N2} tokens sent and {packets:N2} packets "
            + "received each second for each group of the first node");
        Assert.InRange(tokens, 0, 0.27);
        Assert.InRange(packets, 0, 0.27);
        Assert.InRange(unused, 1, 32_000);
        Assert.InRange(used, 1, 64_000);
    }

    [Fact]
    public void A_message_comes_as_soon_in_one_of_many_idle_groups_as_in_the_only_one()
    {
        var alone = Latency(groups: 1);
        var among = Latency(Groups);
        output.WriteLine($"{alone.TotalMicroseconds:N0} µs alone, {among.TotalMicroseconds:N0} µs among {Groups}");
        Assert.InRange(among, TimeSpan.Zero, alone + TimeSpan.FromMilliseconds(1));
    }

    private static TimeSpan Latency(int groups)
    {
        using var cluster = Begin(groups, out var members);
        int delivered = 0;
        var last = TimeSpan.Zero;
        // The first group's.
        foreach (var one in members.Where(static one => one.Name == "group 0"))
        {
            one.SubscribeInline((in GroupEvent<string> got) =>
            {
                if (!got.IsView)
                {
                    delivered++;
                    last = cluster.Now;
                }
            });
        }

        int size = members.Count(static one => one.Name == "group 0");
        // The way is used once before.
        cluster.RunUntilCompleted(members[0].SendAsync("first").AsTask());
        cluster.Run(10 * Second);
        Assert.Equal(size, delivered);
        var begun = cluster.Now;
        cluster.RunUntilCompleted(members[0].SendAsync("second").AsTask());
        cluster.Run(Second);
        Assert.Equal(2 * size, delivered);
        return last - begun;
    }

    // The first node is in all groups, with 2 to 7 others.
    private static SimulatedCluster Begin(int groups, out List<IGroup<string>> members)
    {
        var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = Nodes, Seed = 1, TopicDelay = TimeSpan.Zero, NotesDeliveries = false });
        cluster.Start();
        var random = new Random(1);
        members = [];
        for (int i = 0; i < groups; i++)
        {
            int[] others = [.. Enumerable.Range(1, Nodes - 1)];
            random.Shuffle(others);
            foreach (int node in others.Take(random.Next(2, Nodes)).Prepend(0))
            {
                members.Add(cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenGroupAsync<string>($"group {i}")));
            }
        }

        cluster.Run(10 * Second);
        return cluster;
    }

    private static (long Sent, long Received) Packets(SimulatedCluster cluster)
    {
        var counters = ((MulticastNode)cluster.Nodes[0].Life!.Parts.Multicast).Counters;
        return (counters.TokensSent, counters.PacketsReceived);
    }

    private static long PacketMemory(SimulatedCluster cluster) =>
        cluster.Nodes.Sum(static node => node.Life!.Environment.Buffers.AllocatedBytes);
}
