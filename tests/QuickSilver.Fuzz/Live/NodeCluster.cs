using System.Net;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Simulation;

namespace QuickSilver.Fuzz.Live;

// Nodes that have joined, and publish to a topic that all subscribe to. Always from the same seed.
internal sealed class NodeCluster : IDisposable
{
    public const string Topic = "flights";

    private const long MostPacketBytes = 16 << 20;
    private static readonly TimeSpan Often = TimeSpan.FromMilliseconds(25);

    public NodeCluster(int nodes)
    {
        Cluster = new SimulatedCluster(new SimulationOptions { Nodes = nodes, Seed = 1, PoolBytes = MostPacketBytes });
        Cluster.Start(PublishAsync);
        Cluster.Run(TimeSpan.FromMilliseconds(100));
    }

    public SimulatedCluster Cluster { get; }

    public NodeKey KeyOf(int node) => Parts(node).Membership.Self;

    public IPEndPoint EndPointOf(int node) => Parts(node).Membership.Roster.Find(KeyOf(node))!.EndPoint;

    /// <summary>The newest view of which the node is a member.</summary>
    public RegionView? ViewAt(int node) => ((MulticastNode)Parts(node).Multicast).Regions.LastOrDefault()?.View;

    /// <summary>What hostile datagrams make nodes keep has limits.</summary>
    public void CheckMemory()
    {
        foreach (var node in Cluster.Nodes.Where(static node => node.IsJoined))
        {
            var multicast = (MulticastNode)Parts(node.Number).Multicast;
            FindingException.ThrowUnless(multicast.OutboundStreams <= 16, $"{node} has {multicast.OutboundStreams} streams.");
            FindingException.ThrowUnless(multicast.Regions.Count <= 16, $"{node} has {multicast.Regions.Count} regions.");
        }
    }

    public void Dispose() => Cluster.Dispose();

    private Composition.ProtocolParts Parts(int node) => Cluster.Nodes[node].Life!.Parts;

    private static async Task PublishAsync(SimulatedNode node)
    {
        var topic = await node.Node.OpenTopicAsync<string>(Topic);
        topic.SubscribeInline(static (in Message<string> _) => { });
        for (int i = 0; ; i++)
        {
            await topic.PublishAsync($"{node.Number} {i}");
            await Task.Delay(Often, node.Time);
        }
    }
}
