using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Simulation.Tests.Clusters;

// A topic whose subscribers are in four regions, because each has a topic of its own besides: it has an address to which packets are sent
// once (the hybrid mode), while the membership service changes (F14).
public sealed class TopicAddressTests
{
    private const int Host = 0;
    private const int Publisher = 1;
    private const int FirstReader = 2;
    private const int Readers = 4;
    private const int Nodes = FirstReader + Readers;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(MembershipPlacement.Dedicated, 1)]
    [InlineData(MembershipPlacement.Dedicated, 2)]
    [InlineData(MembershipPlacement.Embedded, 3)]
    [InlineData(MembershipPlacement.Embedded, 4)]
    public void When_the_service_changes_nothing_is_lost_and_the_new_one_gives_addresses_again(MembershipPlacement membership, ulong seed)
    {
        using var run = new Run(membership, seed);
        var cluster = run.Cluster;
        cluster.Eventually("the address is used", () => run.Shared > 100);
        var host = cluster.Machines.Nodes.Single(machine => machine.Life!.Endpoints.IsListening);
        long before = run.Published;
        host.Crash();
        cluster.Run(Second);
        Assert.True(run.Published > before, "Nothing was published while there was no service.");
        if (host.IsService)
        {
            host.Restart();
        }

        int known = host.IsService ? Nodes : Nodes - 1;
        cluster.Run(Second * 10);
        cluster.Eventually("all are in one cluster", () => cluster.Nodes.Where(node => node.IsUp).All(node => node.KnownNodes == known));
        long shared = run.Shared;
        long published = run.Published;
        cluster.Run(Second);
        Assert.True(run.Published - published > 100);
        Assert.InRange(run.Shared - shared, (run.Published - published) / 2, run.Published - published);

        run.EndAndExpectAll();
    }

    [Theory]
    [InlineData("239.192.0.0/14", 32_767, 1024, 64, true)]
    [InlineData("239.192.0.0/14", 32_767, 1, 64, true)]
    [InlineData("239.192.0.0/14", 32_767, 1024, 1, true)]
    [InlineData("239.192.0.0/14", 32_767, 0, 64, false)]
    [InlineData("239.192.0.0/14", 32_767, 1024, 0, false)]
    [InlineData("239.192.0.0/14", 32_767, 0, 0, false)]
    // Fewer groups than regions and topics: some are shared, with other ports, or with none.
    [InlineData("239.192.0.0/30", 10_003, 1024, 64, true)]
    [InlineData("239.192.0.0/30", 10_000, 1024, 64, true)]
    public void With_any_limits_everything_arrives(string network, int lastPort, int most, int mostOfNode, bool isUsed)
    {
        const int Topics = 3;
        const int Messages = 300;
        var got = new List<string>[Nodes * Topics];
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = Nodes,
            Seed = 5,
            NodeOptions = new QuickSilverOptions
            {
                Membership =
                {
                    Hosted =
                    {
                        MulticastNetwork = System.Net.IPNetwork.Parse(network),
                        LastGroupPort = lastPort,
                        TopicAddresses = most,
                        TopicAddressesPerNode = mostOfNode,
                    },
                },
            },
        });
        cluster.Start(async node =>
        {
            for (int i = 0; i < Topics && node.Number >= FirstReader; i++)
            {
                var lines = got[(node.Number * Topics) + i] = [];
                var topic = await node.Node.OpenSubscriberAsync<string>($"wide {i}");
                topic.SubscribeInline((in message) => lines.Add(message.Value), gap => lines.Add($"{gap}"));
            }

            await node.Node.OpenSubscriberAsync<string>($"own {node.Number}");
        });
        var topics = Enumerable.Range(0, Topics)
            .Select(i => cluster.RunUntilCompleted(cluster.Nodes[Publisher].Node.OpenPublisherAsync<string>($"wide {i}"))).ToList();
        topics.ForEach(topic => cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(Readers)));
        for (int message = 0; message < Messages; message++)
        {
            topics.ForEach(topic => cluster.RunUntilCompleted(topic.PublishAsync($"{message}")));
            cluster.Run(TimeSpan.FromMilliseconds(10));
        }

        var readers = got.Skip(FirstReader * Topics).ToList();
        cluster.Eventually("all have everything", () => readers.TrueForAll(lines => lines.Count >= Messages));
        string[] all = [.. Enumerable.Range(0, Messages).Select(message => $"{message}")];
        Assert.All(readers, lines => Assert.Equal(all, lines));
        var node = cluster.Nodes[Publisher].Node;
        Assert.Equal(isUsed, node.Read(NodeFigures.SharedPacketsSent) > 0);
        Assert.Equal(0, node.Read(NodeFigures.Repairs));
        Assert.All(cluster.Nodes, static one => Assert.Null(one.Node.Status.Reason));
    }

    private sealed class Run : IDisposable
    {
        private readonly List<string>[] _got = [.. Enumerable.Range(0, Nodes).Select(_ => new List<string>())];
        private readonly List<GapNotice> _gaps = [];
        private bool _isOver;

        public Run(MembershipPlacement membership, ulong seed)
        {
            Cluster = new SimulatedCluster(new SimulationOptions
            {
                Nodes = Nodes,
                // The first node hosts the service.
                StartedNodes = 1,
                Seed = seed,
                Membership = membership,
                NodeOptions = new QuickSilverOptions { Membership = { Hosted = { HeartbeatInterval = Second / 5 } } },
            });
            Cluster.Start(PlayAsync);
            foreach (var node in Cluster.Nodes.Skip(Host + 1))
            {
                node.Start();
            }
        }

        public SimulatedCluster Cluster { get; }

        public long Published { get; private set; }

        public long Shared => Cluster.Nodes[Publisher].IsJoined ? Cluster.Nodes[Publisher].Node.Read(NodeFigures.SharedPacketsSent) : 0;

        public void EndAndExpectAll()
        {
            _isOver = true;
            var readers = _got.Skip(FirstReader).ToList();
            Cluster.Eventually("all have everything", () => readers.TrueForAll(lines => lines.Count == Published));
            Assert.Empty(_gaps);
            string[] all = [.. Enumerable.Range(0, (int)Published).Select(number => $"{number}")];
            Assert.All(readers, lines => Assert.Equal(all, lines));
        }

        public void Dispose() => Cluster.Dispose();

        private async Task PlayAsync(SimulatedNode node)
        {
            if (node.Number >= FirstReader)
            {
                var wide = await node.Node.OpenSubscriberAsync<string>("wide");
                wide.SubscribeInline((in message) => _got[node.Number].Add(message.Value), _gaps.Add);
                await node.Node.OpenSubscriberAsync<string>($"own {node.Number}");
            }
            else if (node.Number == Publisher)
            {
                var wide = await node.Node.OpenPublisherAsync<string>("wide");
                await wide.WaitForSubscribersAsync(Readers);
                while (!_isOver)
                {
                    await wide.PublishAsync($"{Published++}");
                    await Task.Delay(TimeSpan.FromMilliseconds(2), node.Time);
                }
            }
        }
    }
}
