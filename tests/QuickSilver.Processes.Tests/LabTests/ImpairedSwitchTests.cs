using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.LabTests;

// Before the lab may blame a node, it must do exactly what it is configured to do. F1, F2, F3, F12.
[Collection(nameof(Alone))]
public sealed class ImpairedSwitchTests
{
    private const int Marker = int.MaxValue;

    [Fact]
    public void Without_harm_multicast_reaches_all_others_in_order()
    {
        using var rig = new LabRig(4);

        rig.Multicast(from: 1, count: 2000);

        foreach (var node in new[] { 2, 3, 4 })
        {
            Assert.Equal(Enumerable.Range(0, 2000), Enumerable.Range(0, 2000).Select(_ => rig[node].Receive()));
        }

        Assert.Equal(0, rig.Switch.Refused);
    }

    [Fact]
    public void Unicast_reaches_the_one_it_is_for()
    {
        using var rig = new LabRig(3);

        rig[1].Send(7, rig[3].Address);
        rig[1].Send(8, rig[2].Address);
        rig[1].Send(Marker, rig[1].GroupAddress);

        Assert.Equal([8], rig[2].ReceiveUntil(Marker));
        Assert.Equal([7], rig[3].ReceiveUntil(Marker));
    }

    [Fact]
    public void Loss_follows_the_settings_of_each_pair()
    {
        const int Count = 5000;
        using var rig = new LabRig(4, seed: 42);
        rig.Switch[1, 2] = new Impairment { LossPercent = 20 };
        rig.Switch[1, 3] = new Impairment { LossPercent = 5 };

        rig.Multicast(from: 1, Count);
        rig.Switch.SetAll(Impairment.None);
        rig[1].Send(Marker, rig[1].GroupAddress);
        var (second, third, fourth) = (rig[2].ReceiveUntil(Marker), rig[3].ReceiveUntil(Marker), rig[4].ReceiveUntil(Marker));

        // Six standard deviations of a binomial count.
        Assert.InRange(Count - second.Count, 1000 - 170, 1000 + 170);
        Assert.InRange(Count - third.Count, 250 - 93, 250 + 93);
        Assert.Equal(Count, fourth.Count);
        Assert.Equal(Count - second.Count, rig.Switch.Counters(1, 2).Lost);

        // Independent fates: were they shared, all that the third lost would be among the second's losses.
        var lostByBoth = Enumerable.Range(0, Count).Except(second).Except(third).Count();
        Assert.InRange(lostByBoth, 50 - 42, 50 + 42);
    }

    [Fact]
    public void The_same_seed_loses_the_same_frames_whatever_else_is_harmed()
    {
        var plain = SurvivorsOf(9, new Impairment { LossPercent = 30 });
        var withMore = SurvivorsOf(9, new Impairment { LossPercent = 30, DuplicatePercent = 20, Jitter = TimeSpan.FromMilliseconds(1) });
        var otherSeed = SurvivorsOf(10, new Impairment { LossPercent = 30 });

        Assert.Equal(plain, withMore);
        Assert.NotEqual(plain, otherSeed);
    }

    [Fact]
    public void Duplicates_come_twice_and_are_counted()
    {
        const int Count = 2000;
        using var rig = new LabRig(2);
        rig.Switch[1, 2] = new Impairment { DuplicatePercent = 10 };

        rig.Multicast(from: 1, Count);
        rig.Switch.SetAll(Impairment.None);
        rig[1].Send(Marker, rig[1].GroupAddress);
        var received = rig[2].ReceiveUntil(Marker);

        Assert.Equal(Enumerable.Range(0, Count), received.Distinct().Order());
        Assert.InRange(received.Count - Count, 200 - 81, 200 + 81);
        Assert.Equal(received.Count - Count, rig.Switch.Counters(1, 2).Duplicated);
        Assert.True(rig.Switch.Counters(1, 2).Balance);
    }

    [Fact]
    public void A_delayed_frame_comes_after_what_was_caused_by_it_on_a_faster_way()
    {
        using var rig = new LabRig(3);
        rig.Switch[1, 2] = new Impairment { Delay = TimeSpan.FromSeconds(1) };

        rig[1].Send(1, rig[1].GroupAddress);
        var heardByThird = rig[3].Receive();
        rig[3].Send(heardByThird + 1, rig[2].Address);

        Assert.Equal([2, 1], [rig[2].Receive(), rig[2].Receive()]);
    }

    [Fact]
    public void An_even_delay_keeps_order_and_jitter_and_reordering_break_it()
    {
        var even = OrderUnder(new Impairment { Delay = TimeSpan.FromMilliseconds(20) });
        var jitter = OrderUnder(new Impairment { Jitter = TimeSpan.FromMilliseconds(40) });
        var reordered = OrderUnder(new Impairment { ReorderPercent = 10, Hold = TimeSpan.FromMilliseconds(20) });

        Assert.Equal(Enumerable.Range(0, 200), even);
        Assert.NotEqual(Enumerable.Range(0, 200), jitter);
        Assert.NotEqual(Enumerable.Range(0, 200), reordered);
        Assert.Equal(Enumerable.Range(0, 200), jitter.Order());
        Assert.Equal(Enumerable.Range(0, 200), reordered.Order());
    }

    [Fact]
    public void A_one_way_block_stops_one_way_only()
    {
        using var rig = new LabRig(2);
        rig.Switch[1, 2] = new Impairment { Blocked = true };

        rig[1].Send(1, rig[2].Address);
        rig[2].Send(2, rig[1].Address);
        rig.WaitForSwitch(1, 1);
        rig.Switch.Heal();
        rig[1].Send(Marker, rig[2].Address);

        Assert.Empty(rig[2].ReceiveUntil(Marker));
        Assert.Equal(2, rig[1].Receive());
        Assert.True(rig.Switch.Counters(1, 2).Blocked >= 1);
    }

    [Fact]
    public void A_partition_separates_the_halves_and_healing_joins_them()
    {
        using var rig = new LabRig(4);
        rig.Switch.Partition(1, 2);

        rig[1].Send(1, rig[1].GroupAddress);
        rig[3].Send(3, rig[3].GroupAddress);
        rig.WaitForSwitch(1, 1);
        rig.WaitForSwitch(3, 1);
        rig.Switch.Heal();
        rig[1].Send(Marker, rig[1].GroupAddress);
        rig[3].Send(Marker, rig[3].GroupAddress);

        Assert.Equal([1], rig[2].ReceiveUntil(Marker));
        Assert.Equal([3], rig[4].ReceiveUntil(Marker));
        Assert.Empty(rig[3].ReceiveUntil(Marker));
        Assert.Empty(rig[1].ReceiveUntil(Marker));
    }

    [Fact]
    public void Multicast_can_stop_while_unicast_works()
    {
        using var rig = new LabRig(3);
        rig.Switch.SetMulticast(on: false);

        rig[1].Send(1, rig[1].GroupAddress);
        rig[1].Send(2, rig[2].Address);
        rig.WaitForSwitch(1, 1);
        rig.Switch.SetMulticast(on: true);
        rig[1].Send(Marker, rig[1].GroupAddress);

        Assert.Equal([2], rig[2].ReceiveUntil(Marker));
        Assert.Empty(rig[3].ReceiveUntil(Marker));
    }

    [Fact]
    public void The_census_shows_where_datagrams_went()
    {
        using var rig = new LabRig(2);
        var census = rig.Switch.Census = new UdpCensus();

        rig[1].Send(5, rig[1].GroupAddress, bytes: 100);
        _ = rig[2].Receive(bytes: 100);

        Assert.Contains(KeyValuePair.Create(rig[1].GroupAddress, 100L), census.BytesByDestination());
        var sample = Assert.Single(census.LatestDatagrams(), s => s.Destination.Equals(rig[1].GroupAddress));
        Assert.True(sample.IsMulticast);
        Assert.Equal(5, LabSocket.NumberOf(sample.Payload));
    }

    private static List<int> SurvivorsOf(ulong seed, Impairment impairment)
    {
        using var rig = new LabRig(2, seed);
        rig.Switch[1, 2] = impairment;
        rig.Multicast(from: 1, count: 500);
        rig.WaitForSwitch(1, 500);

        // Whatever jitter holds back comes within it; this comes later still.
        rig.Switch[1, 2] = new Impairment { Delay = TimeSpan.FromMilliseconds(200) };
        rig[1].Send(Marker, rig[1].GroupAddress);
        return [.. rig[2].ReceiveUntil(Marker).Distinct().Order()];
    }

    private static List<int> OrderUnder(Impairment impairment)
    {
        using var rig = new LabRig(2);
        rig.Switch[1, 2] = impairment;
        rig.Multicast(from: 1, count: 200);
        return [.. Enumerable.Range(0, 200).Select(_ => rig[2].Receive())];
    }
}
