using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A member that sends well-formed packets with numbers that cannot be (I17, I19, I24 under F18 and F22): no node keeps anything for
// it, and the others' traffic continues within a second.
[Collection(Alone)]
public sealed class AbsurdNumbersTests
{
    public const string Alone = "weighs the heap";
    private const ulong Topic = 1;
    private const int Liar = 4;
    private static readonly long[] Numbers =
        [0, -1, 1, 60_000, 1L << 20, int.MaxValue, 1L << 40, 1L << 61, long.MaxValue / 2, long.MaxValue - 1, long.MaxValue, long.MinValue];

    [Theory]
    [InlineData("data")]
    [InlineData("best effort")]
    [InlineData("announce")]
    [InlineData("token of the leader")]
    [InlineData("token of its own")]
    [InlineData("pull")]
    [InlineData("ack")]
    [InlineData("probe")]
    [InlineData("probe reply")]
    public void Absurd_numbers_cost_no_memory_and_stop_no_node(string kind)
    {
        var cluster = new MulticastCluster(1, 5, options: new MulticastOptions { ClusterId = 7 });
        cluster[0].Publishes(Topic);
        cluster[Liar].Publishes(2);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        long published = 0;
        long before = 0;
        cluster[0].OnCore(() => published += cluster[0].Publish(Topic, 100) ? 1 : 0);
        Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable && published == 1));
        for (int attack = 0; attack < 3; attack++)
        {
            for (int i = 0; i < 1_000; i++)
            {
                cluster[0].OnCore(() => published += cluster[0].Publish(Topic, 100) ? 1 : 0);
                Lie(cluster, kind, (attack * 2_000) + (i * 2));
                Lie(cluster, kind, (attack * 2_000) + (i * 2) + 1);
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            }

            cluster[0].OnCore(() => published += cluster[0].Publish(Topic, 100) ? 1 : 0);
            Assert.True(
                cluster.RunUntil(() => cluster.Hosts.Skip(1).Take(3).All(host => host.Log.Count == published), 1),
                $"attack {attack}: {string.Join(' ', cluster.Hosts.Select(host => host.Log.Count))} of {published}");
            Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable, 2), $"attack {attack}: what was sent does not settle");
            long used = LiveHeap.Bytes();
            if (attack == 1)
            {
                before = used;
            }
            else if (attack == 2)
            {
                Assert.InRange(used - before, long.MinValue, 2 << 20);
            }
        }

        Assert.Equal(3_004, published);
        Assert.All(cluster.Hosts.Skip(1).Take(3), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, published));
    }

    // One that can be: it is asked for, and its sender says that it is not so.
    [Fact]
    public void Packets_that_others_reported_and_that_were_never_sent_are_not_missed_forever()
    {
        var cluster = new MulticastCluster(2, 5, options: new MulticastOptions { ClusterId = 7 });
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        cluster[0].PublishAll(Topic, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable && cluster[4].Log.Count == 10));
        var (view, leader) = (cluster[1].Multicast.Regions.First().View, cluster[1].Key);
        for (int round = 1; round <= 200; round++)
        {
            foreach (var target in cluster.Hosts.Skip(1).Take(3))
            {
                int of = round;
                cluster[Liar].OnCore(() => Tell(cluster, view, target, leader, of, heldByAny: 5_000));
            }

            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        }

        var streams = cluster.Hosts.Skip(1).Select(host => host.Multicast.Regions.First().Find(cluster[0].Key)!).ToList();
        Assert.Contains(streams, stream => stream.Highest == 5_000);
        Assert.True(
            cluster.RunUntil(() => streams.TrueForAll(stream => stream.IsDrained && stream.Highest < 5_000), 10),
            string.Join(' ', streams.Select(stream => stream.Highest)));
        cluster[0].PublishAll(Topic, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 20), 1));
    }

    private static void Tell(MulticastCluster cluster, RegionView view, Host target, NodeKey leader, int round, long heldByAny)
    {
        var liar = cluster[Liar];
        var packet = new byte[1472];
        var template = new PacketTemplate(cluster.Options.ClusterId, liar.Key.Id, liar.Key.Incarnation, view.RegionId, view.Number);
        var token = new Token { Round = round, Leader = leader, To = target.Key };
        token.Add(cluster[0].Key).HeldByAny = heldByAny;
        int bytes = token.Write(packet, template);
        liar.Multicast.Context.SendControl(packet.AsSpan(0, bytes), liar.Multicast.Context.Directory.Find(target.Key)!);
    }

    // Others would be weighed too.
    [CollectionDefinition(Alone, DisableParallelization = true)]
    public sealed class WeighsTheHeap;

    private static void Lie(MulticastCluster cluster, string kind, int turn)
    {
        var liar = cluster[Liar];
        var view = cluster[1].Multicast.Regions.First().View;
        foreach (var target in cluster.Hosts.Take(Liar))
        {
            liar.OnCore(() =>
            {
                var packet = new byte[1472];
                int bytes = Write(packet, cluster, view, target, kind, turn);
                liar.Multicast.Context.SendControl(packet.AsSpan(0, bytes), liar.Multicast.Context.Directory.Find(target.Key)!);
            });
        }
    }

    private static int Write(byte[] packet, MulticastCluster cluster, RegionView view, Host target, string kind, int turn)
    {
        var liar = cluster[Liar].Key;
        long number = Numbers[turn % Numbers.Length];
        uint viewNumber = turn % 5 == 4 ? (uint)number : view.Number;
        var template = new PacketTemplate(cluster.Options.ClusterId, liar.Id, liar.Incarnation, view.RegionId, viewNumber);
        switch (kind)
        {
            case "pull":
                var all = new SequenceRanges(1);
                all.Add(1, SequenceRanges.MaxNumber);
                int written = PullRequest.Write(packet, template, cluster[0].Key, 0, all, 0, SequenceRanges.MaxNumber);
                var body = packet.AsSpan(PacketHeader.Bytes);
                for (int i = 1; i < 100; i++)
                {
                    body.Slice(14, 12).CopyTo(body[(14 + (i * 12))..]);
                }

                body[12] = 100;
                template.Write(packet, PacketKind.Pull, PacketFlags.None, number, 0, 0);
                PacketTemplate.Seal(packet.AsSpan(0, written + (99 * 12)));
                return written + (99 * 12);
            case "ack":
                var gone = turn % 2 == 0 ? 0 : (ulong)number;
                return new AggregateAck(cluster[0].Key, number, number, number, number, number, gone).Write(packet, template);
            case "token of the leader" or "token of its own":
                return Token(packet, template, cluster, target, kind == "token of its own" ? liar : cluster[1].Key, number, turn);
            default:
                var (packetKind, flags) = kind switch
                {
                    "data" => (PacketKind.Data, PacketFlags.AckWanted),
                    "best effort" => (PacketKind.Data, PacketFlags.None),
                    "announce" => (PacketKind.Announce, PacketFlags.Final),
                    "probe" => (PacketKind.Probe, PacketFlags.None),
                    _ => (PacketKind.ProbeReply, PacketFlags.None),
                };
                var streamClass = kind == "best effort" ? StreamClass.BestEffort : StreamClass.Reliable;
                template.Of(streamClass.Value).Write(packet, packetKind, flags, number, 0, 0);
                PacketTemplate.Seal(packet.AsSpan(0, PacketHeader.Bytes));
                return PacketHeader.Bytes;
        }
    }

    private static int Token(
        byte[] packet, PacketTemplate template, MulticastCluster cluster, Host target, NodeKey leader, long number, int turn)
    {
        var token = new Token { Round = number, Leader = leader, To = target.Key, KernelDrops = number, ReceiveBufferBytes = number };
        for (int i = 0; i < 10; i++)
        {
            var sender = i == 0 ? cluster[0].Key : new NodeKey((ulong)((turn * 10) + i), 7);
            var record = token.Add(sender);
            record.Stable = i % 2 == 0 ? 0 : Math.Clamp(number, 0, long.MaxValue / 2);
            record.Replicated = record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = number;
            record.HeldByAny = record.KnownHeldByAny = record.Through = number;
            record.Epoch = (ulong)number;
            record.IsGathering = turn % 3 == 0;
            record.NeighbourGaps.Add(1, SequenceRanges.MaxNumber);
            record.IsPushWanted = turn % 2 == 0;
            record.NeighbourThrough = record.Unheld.Through = record.Unheld.KnownThrough = number;
            record.Unheld.Gaps.Add(1, SequenceRanges.MaxNumber);
        }

        return token.Write(packet, template);
    }
}
