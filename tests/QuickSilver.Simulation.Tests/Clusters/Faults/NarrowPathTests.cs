using QuickSilver.Diagnostics.Figures;
using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// Whole nodes with default options on networks that lose large datagrams without notice.
public sealed class NarrowPathTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(3);
    private static readonly string Filler = new('x', 500);

    [Theory]
    [InlineData(2, 1252)]
    [InlineData(5, 1422)]
    [InlineData(5, 1000)]
    [InlineData(5, 576)]
    [InlineData(20, 1252)]
    public void When_a_path_becomes_narrow_during_a_run_delivery_continues_within_three_seconds(int nodes, int bytes)
    {
        foreach (ulong seed in SeedChoice.InTurn(3, commits: 3))
        {
            using var run = new Run(nodes, seed);
            run.Publish(3_000);
            run.Cluster.Nodes[1].Faults.InboundLargestBytes = bytes;
            run.Publish(3_000);
            run.PublishStable();
            run.ExpectAll();
            run.PublishFor(Soon);
            run.PublishStable();
            run.ExpectAll();
            Assert.InRange(run.Cluster.Nodes[0].Node.GetGauges().SmallestPathBytes, 576, bytes);
            Assert.Contains(run.Cluster.Nodes[0].Node.Status.Reasons, reason => reason.Kind == StatusReasonKind.PathTooSmall);
            Assert.All(run.Cluster.Nodes, node => Assert.True(node.IsJoined));
        }
    }

    [Fact]
    public void Packets_follow_the_path_so_that_nothing_is_repaired_any_more()
    {
        using var run = new Run(nodes: 4, seed: 1);
        run.Publish(1_000);
        run.Cluster.Nodes[1].Faults.InboundLargestBytes = 1252;
        run.PublishFor(Soon);
        run.PublishStable();
        long repairs = run.Repairs;
        run.Publish(2_000);
        run.PublishStable();
        run.ExpectAll();
        Assert.Equal(repairs, run.Repairs);
    }

    // No router says that a packet is too large for the path, so the loss says so. 20 MB.
    [Theory]
    [InlineData(2, 1252, false)]
    [InlineData(2, 1252, true)]
    [InlineData(3, 1252, true)]
    [InlineData(5, 1252, false)]
    [InlineData(2, 600, false)]
    public void A_path_that_drops_large_packets_without_notice_costs_at_most_one_repair_for_each_packet(int nodes, int bytes, bool isLate)
    {
        foreach (ulong seed in SeedChoice.InTurn(3, commits: 3))
        {
            using var run = new Run(nodes, seed);
            run.Publish(isLate ? 5_000 : 0);
            run.Cluster.Nodes[1].Faults.InboundLargestBytes = bytes;
            long sent = run.Sent;
            long repairs = run.Repairs;
            run.Publish(40_000);
            run.PublishStable();
            run.ExpectAll();
            Assert.InRange(run.Repairs - repairs, 1, run.Sent - sent);
        }
    }

    [Fact]
    public void When_the_path_is_wide_again_packets_grow_and_the_trouble_ends()
    {
        using var run = new Run(nodes: 3, seed: 1);
        run.Cluster.Nodes[1].Faults.InboundLargestBytes = 1252;
        run.PublishFor(Soon);
        run.PublishStable();
        Assert.Equal(1, run.Cluster.Nodes[0].Node.GetGauges().SmallPaths);
        run.Cluster.Nodes[1].Faults.InboundLargestBytes = null;
        var node = run.Cluster.Nodes[0].Node;
        Assert.True(run.Cluster.RunUntil(() => node.GetGauges().SmallPaths == 0, TimeSpan.FromSeconds(30)));
        Assert.Equal(1472, node.GetGauges().SmallestPathBytes);
        Assert.DoesNotContain(node.Status.Reasons, reason => reason.Kind == StatusReasonKind.PathTooSmall);
        run.Publish(1_000);
        run.PublishStable();
        run.ExpectAll();
    }

    [Fact]
    public void A_network_that_is_narrow_from_the_beginning_carries_everything()
    {
        using var run = new Run(nodes: 5, seed: 1, new LinkModel { LargestDatagramBytes = 1252, Loss = 0.01 });
        run.Publish(3_000);
        run.PublishStable();
        run.ExpectAll();
    }

    [Fact]
    public void Lost_packets_do_not_make_a_path_narrow()
    {
        using var run = new Run(nodes: 4, seed: 1, new LinkModel { Loss = 0.05 });
        for (int i = 0; i < 60; i++)
        {
            run.Publish(100);
            run.Cluster.Run(TimeSpan.FromSeconds(0.5));
        }

        run.PublishStable();
        run.ExpectAll();
        Assert.Equal(0, run.Cluster.Nodes[0].Node.GetGauges().SmallPaths);
    }

    [Fact]
    public void Large_packets_that_only_other_members_keep_come_in_pieces()
    {
        using var run = new Run(nodes: 5, seed: 1);
        run.Cluster.Nodes[1].Faults.InboundLargestBytes = 1000;
        run.Publish(200);
        run.Cluster.Run(TimeSpan.FromMilliseconds(5));
        run.Cluster.Nodes[0].Crash();
        run.Cluster.Run(TimeSpan.FromSeconds(20));
        var survivors = run.Got.Skip(1).Select(static lines => lines.Count).Distinct();
        Assert.Single(survivors);
    }

    private sealed class Run : IDisposable
    {
        private readonly ITopic<string> _topic;
        private int _published;

        public Run(int nodes, ulong seed, LinkModel? link = null)
        {
            Cluster = new SimulatedCluster(new SimulationOptions
            {
                Nodes = nodes,
                Seed = seed,
                Membership = MembershipPlacement.Dedicated,
                Link = link ?? new LinkModel(),
            });
            Got = [.. Cluster.Nodes.Select(_ => new List<string>())];
            Cluster.Start(async node =>
            {
                var topic = await node.Node.OpenTopicAsync<string>("news");
                topic.SubscribeInline((in message) => Got[node.Number].Add(message.Value));
            });
            _topic = Cluster.RunUntilCompleted(Cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
            Cluster.RunUntilCompleted(_topic.WaitForSubscribersAsync(nodes));
        }

        public SimulatedCluster Cluster { get; }

        public List<string>[] Got { get; }

        public long Repairs => Cluster.Nodes.Sum(node => node.Node.Read(NodeFigures.Repairs));

        public long Sent => Cluster.Nodes[0].Node.Read(NodeFigures.PacketsSent);

        // Where messages wait for room, they must wait in virtual time.
        public void Publish(int messages) => Cluster.RunUntilCompleted(
            async () =>
            {
                for (int i = 0; i < messages; i++)
                {
                    await _topic.PublishAsync($"{_published++} {Filler}");
                }
            },
            Soon);

        /// <summary>Publishes all the time: the paths are checked while a stream sends.</summary>
        public void PublishFor(TimeSpan duration)
        {
            for (var gone = TimeSpan.Zero; gone < duration; gone += TimeSpan.FromMilliseconds(50))
            {
                Publish(50);
                Cluster.Run(TimeSpan.FromMilliseconds(50));
            }
        }

        public void PublishStable() =>
            Cluster.RunUntilCompleted(_topic.PublishAsync($"{_published++} {Filler}", PublishCompletion.Stable), Soon);

        public void ExpectAll() => Assert.All(Got, lines => Assert.Equal(
            Enumerable.Range(0, _published).Select(number => $"{number} {Filler}"), lines));

        public void Dispose() => Cluster.Dispose();
    }
}
