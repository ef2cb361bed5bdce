using QuickSilver.Core.Alarms;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests;

// What happens to one node: F4 (crash), F5 (restart), F6 (pause), F13 (shortage), and the costs of its core thread.
public sealed class NodeFaultTests
{
    private readonly Bench _bench = new();

    private SimulatedMachine Node => _bench.Cluster.Nodes[1];

    [Fact]
    public void A_paused_node_does_everything_late_and_in_order()
    {
        var done = new List<(string What, TimeSpan At)>();
        var life = Node.Environment;
        _bench.Unicast[1].Then = _ => done.Add(("datagram", life.Now));
        life.Schedule(new Alarm(() => done.Add(("alarm", life.Now))), Ms(20));
        _bench.Cluster.At(Ms(10), () => Node.Pause(Ms(40)));
        _bench.Cluster.At(Ms(30), () => _bench.Send(_bench.AddressOf(1)));
        _bench.Cluster.At(Ms(40), () => life.Post(new ActionRequest(() => done.Add(("request", life.Now)))));
        _bench.Run(45);
        Assert.Empty(done);
        _bench.Run();
        // As a core thread serves what it finds: packets, then alarms, then requests.
        Assert.Equal([("datagram", Ms(50)), ("alarm", Ms(50)), ("request", Ms(50))], done);
    }

    // A fault of a receiver is logged with this text.
    [Fact]
    public void A_port_names_its_receiver_and_its_end_point() =>
        Assert.Equal($"RecordingReceiver on port {_bench.AddressOf(1)}", _bench.Ports[1].ToString());

    [Fact]
    public void An_alarm_cancelled_by_what_comes_before_it_after_a_pause_stays_silent()
    {
        var life = Node.Environment;
        var second = new Alarm(() => Assert.Fail("cancelled"));
        life.Schedule(new Alarm(() => life.Cancel(second)), Ms(20));
        life.Schedule(second, Ms(21));
        Node.Pause(Ms(40));
        _bench.Run();
        Assert.False(second.IsPending);
    }

    [Fact]
    public void While_a_node_is_paused_its_receive_buffer_fills_and_then_drops()
    {
        Node.Model = Node.Model with { CoalesceProbability = 0, ReceiveBufferLimitBytes = 10_000 };
        Node.Pause(Ms(100));
        _bench.Send(_bench.AddressOf(1), count: 200);
        _bench.Run();
        int kept = _bench.Unicast[1].Runs.Count;
        Assert.InRange(kept, 25, 35);
        Assert.Equal(200 - kept, _bench.Ports[1].KernelDrops);
        Assert.Equal(10_000, _bench.Ports[1].ReceiveBufferBytes);
        Assert.Equal(Enumerable.Range(0, kept), _bench.Unicast[1].Numbers(100));
    }

    [Fact]
    public void Overlapping_pauses_last_as_long_as_the_longest()
    {
        Node.Pause(Ms(50));
        _bench.Cluster.At(Ms(10), () => Node.Pause(Ms(20)));
        _bench.Run(45);
        Assert.True(Node.IsPaused);
        _bench.Run(10);
        Assert.False(Node.IsPaused);
    }

    [Fact]
    public void A_crash_ends_ports_alarms_and_requests_permanently()
    {
        var life = Node.Environment;
        var alarm = new Alarm(() => Assert.Fail("dead"));
        life.Schedule(alarm, Ms(1));
        life.Post(new ActionRequest(() => Assert.Fail("dead")));
        _bench.Send(_bench.AddressOf(1));
        _bench.Send(Bench.GroupAddress);
        Node.Crash();
        _bench.Run();
        Assert.Empty(_bench.Unicast[1].Runs);
        Assert.Empty(_bench.Multicast[1].Runs);
        Assert.False(alarm.IsPending);
        Assert.False(Node.IsUp);
        Assert.Throws<InvalidOperationException>(() => Node.Environment);
    }

    [Fact]
    public void A_dead_life_can_do_nothing_more()
    {
        var life = Node.Environment;
        Node.Crash();
        var alarm = new Alarm(() => Assert.Fail("dead"));
        life.Schedule(alarm, Ms(1));
        Assert.False(alarm.IsPending);
        life.Post(new ActionRequest(() => Assert.Fail("dead")));
        Assert.Equal(SendOutcome.Refused, _bench.Send(_bench.AddressOf(0), from: 1));
        Assert.Throws<TransportException>(() => life.OpenPort(new DatagramPortOptions(), _bench.Unicast[1]));
        var handler = new RecordingHandler();
        life.Connect(_bench.AddressOf(0).EndPoint, handler).Send("x"u8);
        _bench.Run(60_000);
        Assert.Empty(handler.Closings);
        Assert.Empty(_bench.Unicast[0].Runs);
    }

    [Fact]
    public void A_crash_while_paused_forgets_what_was_waiting()
    {
        Node.Environment.Schedule(new Alarm(() => Assert.Fail("dead")), Ms(5));
        Node.Pause();
        _bench.Run(10);
        Node.Crash();
        Node.Restart();
        Assert.False(Node.IsPaused);
        _bench.Run();
    }

    [Fact]
    public void A_restarted_node_is_a_new_life_at_the_same_address()
    {
        var first = Node.Environment;
        SimulatedMachine? told = null;
        _bench.Cluster.NodeStarted = node => told = node;
        Node.Crash();
        var second = Node.Restart();
        Assert.Same(Node, told);
        Assert.NotSame(first, second);
        Assert.Equal(first.LocalAddress, second.LocalAddress);
        Assert.Equal(2, Node.Lives);
        Assert.Throws<InvalidOperationException>(() => Node.Restart());

        var receiver = new RecordingReceiver(second);
        second.OpenPort(new DatagramPortOptions { Port = Bench.UnicastPort }, receiver);
        _bench.Send(_bench.AddressOf(1));
        _bench.Run();
        Assert.Single(receiver.Runs);
        Assert.Empty(_bench.Unicast[1].Runs);
    }

    [Fact]
    public void A_busy_system_sends_nothing_and_says_so()
    {
        _bench.Cluster.Nodes[0].Model = _bench.Cluster.Nodes[0].Model with { SendBusyProbability = 0.5 };
        int sent = 0;
        for (int i = 0; i < 1000; i++)
        {
            sent += _bench.Send(_bench.AddressOf(1)) == SendOutcome.Sent ? 1 : 0;
        }

        _bench.Run();
        Assert.InRange(sent, 400, 600);
        Assert.Equal(sent, _bench.Unicast[1].Numbers(100).Length);
        Assert.Equal(1000 - sent, _bench.Ports[0].BusySends);
    }

    [Fact]
    public void A_nodes_own_loss_takes_from_every_sender()
    {
        Node.Model = Node.Model with { InboundLoss = 0.5 };
        _bench.Send(Bench.GroupAddress, count: 1000);
        _bench.Run();
        Assert.InRange(_bench.Multicast[1].Numbers(100).Length, 400, 600);
        Assert.Equal(1000, _bench.Multicast[0].Numbers(100).Length);
    }

    [Fact]
    public void A_slow_core_thread_takes_its_time_and_its_buffer_overflows()
    {
        Node.Model = Node.Model with { CoalesceProbability = 0, CostPerDatagram = Ms(1), ReceiveBufferLimitBytes = 20_000 };
        _bench.SendSpread(_bench.AddressOf(1), 400, TimeSpan.FromMilliseconds(0.1));
        _bench.Run();
        int handled = _bench.Unicast[1].Runs.Count;
        Assert.InRange(handled, 60, 250);
        Assert.Equal(400 - handled, _bench.Ports[1].KernelDrops);
        // A datagram a millisecond, less the batch that is handed up at the beginning of its time.
        Assert.InRange(_bench.Unicast[1].Runs[^1].At, Ms(handled - 65), Ms(handled + 1));
    }

    [Fact]
    public void Events_of_a_busy_node_wait_their_turn()
    {
        Node.Model = Node.Model with { CostPerEvent = Ms(10) };
        var life = Node.Environment;
        var fired = new List<TimeSpan>();
        for (int i = 0; i < 3; i++)
        {
            life.Schedule(new Alarm(() => fired.Add(life.Now)), Ms(5));
        }

        _bench.Run();
        Assert.Equal([Ms(5), Ms(15), Ms(25)], fired);
    }

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
