using QuickSilver.Core.Wire;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// Node 0 publishes a topic to nodes in several regions. The topic has an address of its own, unless stated otherwise.
internal static class TopicInRegions
{
    public const ulong Topic = 1;
    public const int Regions = 3;
    public const int MembersOfRegion = 3;
    public const int NodeCount = 1 + (Regions * MembersOfRegion);
    public const int Bytes = 300;

    public static MulticastCluster Running(ulong seed, bool hasAddress = true)
    {
        var cluster = Cluster(seed);
        Start(cluster, hasAddress);
        return cluster;
    }

    public static MulticastCluster Cluster(
        ulong seed, LinkModel? link = null, MulticastOptions? options = null, bool reliable = true)
    {
        var cluster = new MulticastCluster(seed, NodeCount, link, options);
        cluster[0].Publishes(Topic, reliable);
        for (int i = 1; i < NodeCount; i++)
        {
            cluster[i].Subscribes(Topic, reliable);
            cluster[i].Subscribes(10 + (ulong)RegionOf(i));
        }

        return cluster;
    }

    public static void Start(MulticastCluster cluster, bool hasAddress = true)
    {
        if (hasAddress)
        {
            cluster.Service.GiveAddress(Topic);
        }

        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Publish(cluster, 1, total: null);
        // Until the first message is acknowledged in all regions.
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        foreach (var host in cluster.Hosts)
        {
            host.Log.Clear();
        }
    }

    // Publishes, and waits until all have it.
    public static void Publish(MulticastCluster cluster, int messages, int? total = 0)
    {
        int before = total is null or 0 ? Receivers(cluster).Max(host => host.Log.Count) : total.Value - messages;
        cluster[0].PublishAll(Topic, messages, Bytes);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => Count(host) >= before + messages)), Counts(cluster));
    }

    public static int Count(Host host) => host.Log.Count(one => one.Topic == Topic);

    public static void AssertRuns(MulticastCluster cluster, int last) =>
        Assert.All(Receivers(cluster), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 2, last + 1));

    public static List<Host> Receivers(MulticastCluster cluster) => cluster.Hosts.Skip(1).ToList();

    public static int RegionOf(int node) => (node - 1) / MembersOfRegion;

    public static PacketKind KindOf(ReadOnlySpan<byte> datagram) => new PacketHeader(datagram).Kind;

    public static long Repairs(MulticastCluster cluster) => cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent);

    public static string Counts(MulticastCluster cluster) => string.Join(' ', cluster.Hosts.Select(host => host.Log.Count));
}
