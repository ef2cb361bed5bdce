using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;
using static QuickSilver.Multicast.Tests.Infrastructure.TopicInRegions;

namespace QuickSilver.Multicast.Tests.Scenarios.Paths;

// A topic in several regions has an address of its own, which a member of one of them does not hear.
public sealed class UnheardAddressTests
{
    [Fact]
    public void A_member_that_does_not_hear_the_address_gets_repairs_and_then_its_region_the_packets_by_itself()
    {
        var cluster = Running(seed: 14);
        Publish(cluster, 10);
        cluster.Simulation.Network.Filter = (link, datagram) => KindOf(datagram) == PacketKind.Shared && link.To.Number == 5;
        int total = PublishPieces(cluster, 20, messages: 10, apartMs: 50, total: 10);

        long repairs = Repairs(cluster);
        Assert.True(repairs > 0);
        long shared = cluster[0].Multicast.Counters.SharedPacketsSent;
        total = PublishPieces(cluster, 20, messages: 10, apartMs: 50, total);

        Assert.Equal(repairs, Repairs(cluster));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > shared);
        Assert.True(cluster[0].Multicast.Context.Sending.Unheard!.Contains(Topic, cluster[5].Multicast.Regions.Single().View.RegionId));
    }

    [Fact]
    public void A_region_with_a_deaf_member_gets_the_packets_by_itself_with_copies()
    {
        var cluster = Running(seed: 15);
        cluster.Simulation.Network.Link(0, 5).SetModel(new LinkModel { MulticastOff = true });
        int total = PublishPieces(cluster, 40, messages: 10, apartMs: 50, total: 0);

        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Context.Sending.Deaf.Deaf().Count == 1));
        long shared = cluster[0].Multicast.Counters.SharedPacketsSent;
        long repairs = Repairs(cluster);
        Publish(cluster, 100, total + 100);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > shared);
        Assert.Equal(repairs, Repairs(cluster));
        AssertRuns(cluster, total + 100);
    }

    [Fact]
    public void A_member_whose_system_refuses_the_port_of_the_address_stays_and_gets_everything()
    {
        var cluster = Cluster(seed: 16);
        cluster.Service.HasGroups = false;
        cluster[5].Node.Faults.Refusals.Begin(SystemCalls.OpenGroup, reason: "Too many open files");
        Start(cluster);
        int total = PublishPieces(cluster, 100, messages: 10, apartMs: 400, total: 0);

        Assert.Null(cluster[5].Membership.GaveUp);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 0);
        AssertRuns(cluster, total);
    }

    // No other node would report it: a member of a region without a group cannot report that it is deaf.
    [Fact]
    public void A_member_that_uses_no_multicast_itself_gets_the_packets_by_unicast()
    {
        var cluster = Cluster(seed: 25);
        cluster.Service.HasGroups = false;
        var unicast = new Host(cluster, cluster.Simulation.AddNode(), cluster.Options with { Unicast = true });
        cluster.Hosts.Add(unicast);
        unicast.Subscribes(Topic);
        unicast.Subscribes(20);
        Start(cluster);
        int total = PublishPieces(cluster, 20, messages: 10, apartMs: 50, total: 0);

        long repairs = Repairs(cluster);
        long shared = cluster[0].Multicast.Counters.SharedPacketsSent;
        Publish(cluster, 1_000, total + 1_000);
        Assert.Equal(repairs, Repairs(cluster));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > shared);
    }

    [Fact]
    public void A_region_that_has_missed_the_address_once_and_loses_packets_gets_shared_ones_again_after_a_while()
    {
        var cluster = Running(seed: 26);
        bool isCut = true;
        int data = 0;
        cluster.Simulation.Network.Filter = (link, datagram) => link.To.Number == 5 && (KindOf(datagram) == PacketKind.Shared
            ? isCut
            : KindOf(datagram) == PacketKind.Data && (new PacketHeader(datagram).Flags & PacketFlags.Repair) == 0 && ++data % 20 == 0);
        var unheard = () => cluster[0].Multicast.Context.Sending.Unheard?.Contains(
            Topic, cluster[5].Multicast.Regions.Single().View.RegionId) == true;
        int total = 0;
        for (int i = 0; i < 100 && !unheard(); i++)
        {
            total += 50;
            Publish(cluster, 50, total);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }

        Assert.True(unheard());
        isCut = false;
        total = PublishPieces(cluster, 140, messages: 50, apartMs: 500, total);

        Assert.False(unheard());
        Assert.True(Repairs(cluster) > 100);
        AssertRuns(cluster, total);
    }

    [Fact]
    public void A_report_on_topics_that_are_not_sent_to_the_member_has_no_effect()
    {
        const ulong Foreign = 1_000;
        var cluster = Running(seed: 27);
        Publish(cluster, 10);
        var member = cluster[5];
        var view = member.Multicast.Regions.Single().View;
        var other = cluster[1].Multicast.Regions.Single().View;
        member.OnCore(() =>
        {
            Tell(member, cluster[0], other, Topic);
            for (ulong i = 0; i < 5_000; i++)
            {
                Tell(member, cluster[0], view, Foreign + i);
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        var unheard = cluster[0].Multicast.Context.Sending.Unheard;
        Assert.False(unheard?.Contains(Foreign, view.RegionId) == true);
        Assert.False(unheard?.Contains(Topic, other.RegionId) == true);
        Assert.True(cluster[0].Multicast.Counters.Dropped(DropReason.NotMember) >= 1_000);

        member.OnCore(() => Tell(member, cluster[0], view, Topic));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        Assert.True(cluster[0].Multicast.Context.Sending.Unheard!.Contains(Topic, view.RegionId));
    }

    // Publishes so many pieces, each of which all receive before the next. Returns the number of messages with those before.
    private static int PublishPieces(MulticastCluster cluster, int pieces, int messages, double apartMs, int total)
    {
        for (int i = 0; i < pieces; i++)
        {
            total += messages;
            Publish(cluster, messages, total);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(apartMs));
        }

        return total;
    }

    private static void Tell(Host member, Host sender, RegionView view, ulong topic)
    {
        var packet = new byte[HearingNotice.MostBytes];
        var context = member.Multicast.Context;
        new HearingNotice(sender.Key, HearingWord.MissesTopic, topic).WriteWithTopic(packet, context.Template(view));
        context.SendControl(packet, context.Directory.Find(sender.Key)!);
    }
}
