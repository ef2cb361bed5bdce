using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Schemes;

// Reliable streams of several numbers into one view (SchemeContract has what each scheme keeps for them).
public sealed class NumberedStreamTests
{
    private const ulong Plain = 1;
    private const ulong Numbered = 2;

    [Fact]
    public void A_stream_whose_packets_are_all_lost_holds_up_no_other()
    {
        var cluster = Running(new MulticastOptions { ClusterId = 7 });
        cluster.Simulation.Network.Filter = static (_, packet) => IsDataOf(packet, StreamClass.Reliable);
        cluster[0].PublishAll(Plain, 50, 300);
        cluster[0].PublishAll(Numbered, 5_000, 300);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => Count(host, Numbered) == 5_000)));
        Assert.True(cluster.RunUntil(() => StreamOf(cluster, StreamClass.ReliableOf(1)).Pending == 0));
        Assert.All(cluster.Hosts, host => Assert.Equal(0, Count(host, Plain)));

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => Count(host, Plain) == 50)));
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Numbered_streams_hold_in_rings_of_several_levels_and_when_sealed(bool isSealed)
    {
        var options = new MulticastOptions { ClusterId = 7, IsSealed = isSealed };
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Running(options, seed, nodes: 12, new LinkModel { Loss = 0.1 });
            cluster[0].PublishAll(Plain, 400, 700);
            cluster[0].PublishAll(Numbered, 400, 700);
            foreach (ulong topic in new[] { Plain, Numbered })
            {
                Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => Count(host, topic) == 400)), $"seed {seed}");
                Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], topic, 1, 400));
            }

            Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0), $"seed {seed}");
        }
    }

    [Theory]
    [InlineData(4, true, "0 to 3")]
    [InlineData(1, false, "best-effort one has 0")]
    public void A_number_that_no_stream_has_is_refused(byte number, bool reliable, string text)
    {
        var cluster = new MulticastCluster(1, 1);
        var channel = new ChannelSpec(Plain)
        {
            Reliability = reliable ? Reliability.Reliable : Reliability.BestEffort,
            StreamNumber = number,
        };
        var exception = Assert.Throws<ArgumentException>(() => cluster[0].Multicast.OpenPublisher(channel));
        Assert.Contains(text, exception.Message);
    }

    [Fact]
    public void Classes_are_known_up_to_the_last_number()
    {
        var all = Enumerable.Range(0, 256).Select(static value => new StreamClass((byte)value));
        byte[] known = [.. all.Where(static one => one.IsKnown).Select(static one => one.Value)];
        Assert.Equal([0, 1, 2, 4, 6], known);
        Assert.Equal(known, StreamClass.All.ToArray().Select(static one => one.Value).Order());
    }

    private static int Count(Host host, ulong topic) => host.Log.Count(one => one.Topic == topic);

    private static bool IsDataOf(ReadOnlySpan<byte> packet, StreamClass streamClass) =>
        new PacketHeader(packet) is { Kind: PacketKind.Data } header && header.StreamClass == streamClass.Value;

    private static ISentStream StreamOf(MulticastCluster cluster, StreamClass streamClass) =>
        cluster[0].Multicast.Streams.Single(stream => stream.Class == streamClass);

    private static MulticastCluster Running(MulticastOptions options, ulong seed = 1, int nodes = 4, LinkModel? link = null)
    {
        var cluster = new MulticastCluster(seed, nodes, link, options) { Service = { Repair = new RepairRules(2, 3) } };
        cluster.StreamNumbers[Numbered] = 1;
        foreach (ulong topic in new[] { Plain, Numbered })
        {
            cluster[0].Publishes(topic);
            foreach (var host in cluster.Hosts.Skip(1))
            {
                host.Subscribes(topic);
            }
        }

        cluster.Commit();
        return cluster;
    }
}
