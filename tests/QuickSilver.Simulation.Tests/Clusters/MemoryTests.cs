using System.Runtime;
using QuickSilver.Endpoints;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters;

[CollectionDefinition(nameof(MemoryTests), DisableParallelization = true)]
public sealed class MemoryCollection;

// What lies on the managed heap for what is idle. The bounds stand some way above what is measured (docs/memory.md), and far
// below what one table too many for each topic, or for each node that a node knows, would make of it.
[Collection(nameof(MemoryTests))]
public sealed class MemoryTests(ITestOutputHelper output)
{
    private const int Topics = 8192;
    // Several times what the largest cluster here allocates.
    private const long WithoutCollection = 200_000_000;

    // Those of the product alone.
    private static SimulationOptions Options(int nodes) => new() { Nodes = nodes, TopicDelay = TimeSpan.Zero, NotesDeliveries = false };

    [Theory]
    [InlineData(nameof(TopicAccess.PublishAndSubscribe), 17_500_000)]
    [InlineData(nameof(TopicAccess.Subscribe), 14_000_000)]
    [InlineData(nameof(TopicAccess.Publish), 14_000_000)]
    public void Many_idle_topics_add_less_than_17_5_MB_to_a_node_that_hosts_the_service_too(string openedTo, long bound)
    {
        var access = Enum.Parse<TopicAccess>(openedTo);
        Bytes(nodes: 1, topics: 1, access);
        long added = Bytes(nodes: 1, Topics, access) - Bytes(nodes: 1, topics: 1, access);
        output.WriteLine($"{access}: {added:N0} B for {Topics} topics, {added / Topics} B each");
        Assert.InRange(added, 1, bound);
    }

    [Fact]
    public void An_idle_node_among_200_costs_no_more_than_one_among_50()
    {
        Bytes(nodes: 2, topics: 0, TopicAccess.Subscribe);
        long few = Bytes(nodes: 50, topics: 0, TopicAccess.Subscribe) / 50;
        long many = Bytes(nodes: 200, topics: 0, TopicAccess.Subscribe) / 200;
        output.WriteLine($"{few:N0} B for each of 50 nodes, {many:N0} B for each of 200");
        Assert.InRange(many, 1, 14_600);
        Assert.InRange(many, 1, few + 1000);
    }

    // Each of n nodes that join together gets all n: what it reads and makes of that is to be all nodes' in common.
    [Fact]
    public void Joining_and_subscribing_allocates_about_as_much_for_each_of_800_nodes_as_of_200()
    {
        Allocated(nodes: 20);
        long few = Allocated(nodes: 200) / 200;
        long many = Allocated(nodes: 800) / 800;
        output.WriteLine($"{few:N0} B for each of 200 nodes, {many:N0} B for each of 800");
        Assert.InRange(many, 1, few * 5 / 4);

        // Only nodes keep what they have in common, and a collection between the first that reads it and the next would have it
        // read again; a collection also counts what is left of a thread's share of memory as allocated. So there is none.
        static long Allocated(int nodes)
        {
            Assert.True(GC.TryStartNoGCRegion(WithoutCollection));
            long before = GC.GetAllocatedBytesForCurrentThread();
            using var cluster = new SimulatedCluster(Options(nodes));
            cluster.Start(node => node.Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("topic"));
            cluster.Run(TimeSpan.FromSeconds(3));
            long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            Assert.Equal(GCLatencyMode.NoGCRegion, GCSettings.LatencyMode);
            GC.EndNoGCRegion();
            return allocated;
        }
    }

    private static long Bytes(int nodes, int topics, TopicAccess access)
    {
        long before = LiveHeap.Bytes();
        using var cluster = new SimulatedCluster(Options(nodes));
        int open = 0;
        cluster.Start(async node =>
        {
            for (int opened = 0; opened < topics;)
            {
                // Not all at once: what waits to be opened is not what is open.
                var opening = new List<Task<TopicEndpoint<ReadOnlyMemory<byte>>>>();
                for (; opened < topics && opening.Count < 1024; opened++)
                {
                    opening.Add(node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>($"topic/{opened}", access));
                }

                foreach (var one in opening)
                {
                    var topic = await one;
                    open++;
                    if (access != TopicAccess.Publish)
                    {
                        topic.SubscribeInline(static (in _) => { });
                    }
                }
            }
        });
        cluster.Run(TimeSpan.FromMinutes(1));
        long after = LiveHeap.Bytes();
        Assert.Equal(nodes * topics, open);
        GC.KeepAlive(cluster);
        return after - before;
    }
}
