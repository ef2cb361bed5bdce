using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

// What a datagram costs its machine, and when it is on its way.
public sealed class MachineCostTests
{
    private readonly Bench _bench = new(3);

    private NodeModel Sender
    {
        set => _bench.Cluster.Nodes[0].Model = value;
    }

    private static TimeSpan Delay => new LinkModel().Delay;

    [Fact]
    public void A_datagram_leaves_when_its_sender_has_done_with_it_and_with_what_it_sent_before()
    {
        Sender = new NodeModel { CostPerSentDatagram = Ms(1), CostPerKilobyte = Ms(2) };

        _bench.Send(_bench.AddressOf(1), count: 2, bytes: 500);
        _bench.Run();

        Assert.Equal([Delay + Ms(2), Delay + Ms(4)], _bench.Unicast[1].Runs.Select(run => run.At));
    }

    [Fact]
    public void All_that_a_machine_sends_goes_through_one_network_card_and_what_goes_to_a_group_once()
    {
        Sender = new NodeModel { SendBytesPerSecond = 1_000_000 };

        _bench.Send(Bench.GroupAddress, bytes: 1000);
        _bench.Send(_bench.AddressOf(1), bytes: 1000);
        _bench.Send(_bench.AddressOf(2), bytes: 1000);
        _bench.Run();

        Assert.Equal(Delay + Ms(1), Assert.Single(_bench.Multicast[1].Runs).At);
        Assert.Equal(Delay + Ms(1), Assert.Single(_bench.Multicast[2].Runs).At);
        Assert.Equal(Delay + Ms(2), Assert.Single(_bench.Unicast[1].Runs).At);
        Assert.Equal(Delay + Ms(3), Assert.Single(_bench.Unicast[2].Runs).At);
    }

    [Fact]
    public void What_a_machine_sends_to_itself_does_not_go_through_its_network_card()
    {
        Sender = new NodeModel { SendBytesPerSecond = 1_000_000, CostPerSentDatagram = Ms(1) };

        _bench.Send(_bench.AddressOf(1), bytes: 10_000);
        _bench.Send(_bench.AddressOf(0), bytes: 1000);
        _bench.Run();

        Assert.InRange(Assert.Single(_bench.Unicast[0].Runs).At, Ms(2), Ms(3));
        Assert.Equal(Delay + Ms(11), Assert.Single(_bench.Unicast[1].Runs).At);
    }

    [Fact]
    public void A_card_that_has_20_ms_to_send_has_no_room_until_some_is_gone()
    {
        Sender = new NodeModel { SendBytesPerSecond = 1_000_000 };

        Assert.Equal(SendOutcome.Sent, _bench.Send(_bench.AddressOf(1), count: 21, bytes: 1000));
        Assert.Equal(SendOutcome.Busy, _bench.Send(_bench.AddressOf(1), bytes: 1000));
        _bench.Run(milliseconds: 1);
        Assert.Equal(SendOutcome.Sent, _bench.Send(_bench.AddressOf(1), bytes: 1000));
        _bench.Run();
        Assert.Equal(22, _bench.Unicast[1].Numbers(1000).Length);
    }

    [Fact]
    public void A_card_that_sends_nothing_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new NodeModel { SendBytesPerSecond = 0 });

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
