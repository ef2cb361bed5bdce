using System.Numerics;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

// Each fault of a link has its effect, and no more: F1, F2, F3, F10 (on the wire), F11, F12.
public sealed class LinkFaultTests
{
    private readonly Bench _bench = new();

    [Fact]
    public void Loss_takes_its_share_of_each_run()
    {
        Model(new LinkModel { Loss = 0.2 });
        _bench.Send(_bench.AddressOf(1), count: 6400, perRun: 64);
        _bench.Run();
        var numbers = Received();
        Assert.InRange(numbers.Length, 6400 * 0.75, 6400 * 0.85);
        Assert.Equal(numbers.Order(), numbers);
        Assert.Equal(6400 - numbers.Length, _bench.Network.Link(0, 1).Lost);
    }

    [Fact]
    public void Loss_of_a_direction_leaves_the_other_alone()
    {
        _bench.Network.Link(0, 1).SetModel(new LinkModel { Loss = 1 });
        _bench.Send(_bench.AddressOf(1), count: 10);
        _bench.Send(_bench.AddressOf(0), count: 10, from: 1);
        _bench.Run();
        Assert.Empty(_bench.Unicast[1].Runs);
        Assert.Equal(10, _bench.Unicast[0].Numbers(100).Length);
    }

    [Fact]
    public void Burst_loss_takes_neighbours_together()
    {
        Model(new LinkModel { Burst = new BurstLoss { BeginProbability = 0.01, EndProbability = 0.1, LossInBurst = 1 } });
        _bench.Send(_bench.AddressOf(1), count: 20_000, perRun: 64);
        _bench.Run();
        var got = Received().ToHashSet();
        var lost = Enumerable.Range(0, 20_000).Where(number => !got.Contains(number)).ToArray();
        int bursts = lost.Count(number => got.Contains(number - 1));
        Assert.InRange(lost.Length, 20_000 * 0.05, 20_000 * 0.14);
        // Ten in a row on average; single losses at that rate would come barely above one.
        Assert.InRange((double)lost.Length / bursts, 7, 14);
    }

    [Fact]
    public void Duplicates_are_of_what_was_sent_and_as_often_as_asked()
    {
        Model(new LinkModel { Duplicate = 0.1 });
        _bench.Send(_bench.AddressOf(1), count: 5000, perRun: 64);
        _bench.Run();
        var numbers = Received();
        Assert.Equal(Enumerable.Range(0, 5000), numbers.Distinct().Order());
        Assert.InRange(numbers.Length - 5000, 400, 600);
        Assert.All(numbers.CountBy(number => number), pair => Assert.InRange(pair.Value, 1, 2));
    }

    [Fact]
    public void Reordering_holds_some_back_for_no_longer_than_the_bound()
    {
        var hold = TimeSpan.FromMilliseconds(3);
        Model(new LinkModel { Reorder = 0.1, ReorderHold = hold });
        var sentAt = new List<TimeSpan>();
        for (int i = 0; i < 1000; i++)
        {
            sentAt.Add(_bench.Cluster.Now);
            _bench.SendSpread(_bench.AddressOf(1), 1, TimeSpan.FromMilliseconds(0.1));
        }

        _bench.Run();
        var numbers = Received();
        Assert.Equal(1000, numbers.Distinct().Count());
        Assert.NotEqual(numbers.Order(), numbers);
        Assert.All(_bench.Unicast[1].Runs, run =>
            Assert.InRange(run.At - sentAt[BitConverter.ToInt32(run.Bytes)], new LinkModel().Delay, new LinkModel().Delay + hold));
    }

    [Fact]
    public void Jitter_varies_the_delay_but_keeps_the_order()
    {
        Model(new LinkModel { Jitter = TimeSpan.FromMilliseconds(2) });
        _bench.SendSpread(_bench.AddressOf(1), 500, TimeSpan.FromMilliseconds(0.1));
        _bench.Run();
        Assert.Equal(Enumerable.Range(0, 500), Received());
        Assert.True(_bench.Unicast[1].Runs.Select((run, i) => run.At - TimeSpan.FromMilliseconds(0.1 * i)).Distinct().Count() > 100);
    }

    [Fact]
    public void A_slow_link_takes_its_time_and_drops_what_does_not_fit_its_queue()
    {
        Model(new LinkModel { BytesPerSecond = 1_000_000, QueueLimit = TimeSpan.FromMilliseconds(10) });
        _bench.Send(_bench.AddressOf(1), count: 500);
        _bench.Run();
        // A datagram takes 0.1 ms, so some hundred fit into the queue's 10 ms.
        Assert.InRange(Received().Length, 100, 103);
        Assert.InRange(_bench.Unicast[1].Runs[^1].At, TimeSpan.FromMilliseconds(9), TimeSpan.FromMilliseconds(11));
    }

    [Fact]
    public void A_black_hole_swallows_what_is_too_large_only()
    {
        Model(new LinkModel { LargestDatagramBytes = 1472 });
        _bench.Send(_bench.AddressOf(1), bytes: 1473);
        _bench.Send(_bench.AddressOf(1), bytes: 1472);
        _bench.Send(_bench.AddressOf(1), count: 4, bytes: 1472, perRun: 4);
        _bench.Run();
        Assert.Equal([1, 2, 3, 4, 5], _bench.Unicast[1].Numbers(1472));
    }

    [Fact]
    public void A_black_hole_on_the_way_to_one_node_swallows_what_is_too_large_for_it_alone()
    {
        var bench = new Bench(3);
        var faults = bench.Cluster.Nodes[1].Faults;
        faults.InboundLargestBytes = 1000;
        bench.Send(Bench.GroupAddress, bytes: 1001);
        bench.Send(Bench.GroupAddress, bytes: 1000);
        bench.Run();
        Assert.Equal(1000, Assert.Single(bench.Multicast[1].Runs).Bytes.Length);
        Assert.Equal(2, bench.Multicast[2].Runs.Count);
        faults.Heal();
        bench.Send(Bench.GroupAddress, bytes: 1001);
        bench.Run();
        Assert.Equal(2, bench.Multicast[1].Runs.Count);
    }

    [Fact]
    public void With_multicast_off_groups_are_dead_while_unicast_and_the_own_node_live()
    {
        Model(new LinkModel { MulticastOff = true });
        _bench.Send(Bench.GroupAddress);
        _bench.Send(_bench.AddressOf(1));
        _bench.Run();
        Assert.Empty(_bench.Multicast[1].Runs);
        Assert.Single(_bench.Multicast[0].Runs);
        Assert.Single(_bench.Unicast[1].Runs);
    }

    [Fact]
    public void Corruption_flips_one_bit_of_one_receivers_copy()
    {
        var bench = new Bench(3);
        bench.Network.Link(0, 1).SetModel(new LinkModel { Corrupt = 1 });
        var sent = bench.NumberedRun(1, 100);
        bench.Ports[0].Send(sent, 100, Bench.GroupAddress);
        bench.Run();
        var damaged = Assert.Single(bench.Multicast[1].Runs).Bytes;
        Assert.Equal(1, damaged.Zip(sent, (a, b) => BitOperations.PopCount((uint)(a ^ b))).Sum());
        Assert.Equal(sent, Assert.Single(bench.Multicast[2].Runs).Bytes);
        Assert.Equal(sent, Assert.Single(bench.Multicast[0].Runs).Bytes);
    }

    [Fact]
    public void A_partition_cuts_both_ways_between_its_sides_and_heals()
    {
        var bench = new Bench(3);
        bench.Network.Partition([0], [1]);
        Exchange(bench);
        Assert.Empty(bench.Unicast[1].Runs);
        Assert.Empty(bench.Unicast[0].Runs);
        Assert.Single(bench.Unicast[2].Runs);
        bench.Network.Reconnect();
        Exchange(bench);
        Assert.Single(bench.Unicast[1].Runs);
        Assert.Single(bench.Unicast[0].Runs);
    }

    [Fact]
    public void A_mute_node_hears_and_is_not_heard()
    {
        var bench = new Bench(3);
        bench.Network.BlockOneWay([0], [1, 2]);
        Exchange(bench);
        Assert.Empty(bench.Unicast[1].Runs);
        Assert.Empty(bench.Unicast[2].Runs);
        Assert.Single(bench.Unicast[0].Runs);
    }

    [Fact]
    public void A_filter_loses_exactly_the_datagrams_it_names()
    {
        _bench.Network.Filter = (link, datagram) => link.To.Number == 1 && BitConverter.ToInt32(datagram) == 3;
        _bench.Send(_bench.AddressOf(1), count: 6, perRun: 6);
        _bench.Run();
        Assert.Equal([0, 1, 2, 4, 5], Received());
    }

    [Fact]
    public void Healing_sets_everything_back()
    {
        Model(new LinkModel { Loss = 1 });
        _bench.Network.Link(0, 1).SetModel(new LinkModel { MulticastOff = true });
        _bench.Network.Partition([0], [1]);
        _bench.Network.Filter = (_, _) => true;
        _bench.Network.Heal();
        _bench.Send(Bench.GroupAddress, count: 50);
        _bench.Run();
        Assert.Equal(Enumerable.Range(0, 50), _bench.Multicast[1].Numbers(100));
    }

    [Fact]
    public void A_probability_outside_its_range_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new LinkModel { Loss = 1.5 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new LinkModel { Corrupt = -0.1 });
        Assert.Throws<ArgumentOutOfRangeException>(() => new LinkModel { Delay = TimeSpan.FromSeconds(-1) });
    }

    private static void Exchange(Bench bench)
    {
        bench.Send(bench.AddressOf(1));
        bench.Send(bench.AddressOf(2));
        bench.Send(bench.AddressOf(0), from: 1);
        bench.Run();
    }

    private void Model(LinkModel model) => _bench.Network.Model = model;

    private int[] Received() => _bench.Unicast[1].Numbers(100);
}
