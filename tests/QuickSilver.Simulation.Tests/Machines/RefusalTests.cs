using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

// What a node's system refuses: ports, groups, listeners, connections, sends.
public sealed class RefusalTests
{
    private static readonly IPEndPoint Service = new(IPAddress.Any, 5000);

    private readonly Bench _bench = new();

    private SimulatedMachine Node => _bench.Cluster.Nodes[1];

    private SystemRefusals Refusals => Node.Faults.Refusals;

    [Fact]
    public void A_refused_port_says_what_the_system_says()
    {
        Refusals.Begin(SystemCalls.OpenPort, reason: "no descriptors left");
        var refused = Assert.Throws<TransportException>(() => OpenOwn());
        Assert.Contains("no descriptors left", refused.Message, StringComparison.Ordinal);
        OpenGroup();
        Refusals.End();
        OpenOwn();
        Assert.Equal(1, Refusals.Count);
    }

    [Fact]
    public void A_rule_is_over_after_as_many_refusals_as_it_says()
    {
        Refusals.Begin(SystemCalls.OpenGroup, atMost: 2);
        Assert.Throws<TransportException>(OpenGroup);
        Assert.Throws<TransportException>(OpenGroup);
        OpenGroup();
        OpenOwn();
    }

    [Fact]
    public void A_share_of_the_calls_is_refused_and_the_same_for_the_same_seed()
    {
        Refusals.Begin(SystemCalls.OpenGroup, share: 0.5);
        var other = new Bench();
        other.Cluster.Nodes[1].Faults.Refusals.Begin(SystemCalls.OpenGroup, share: 0.5);
        var here = Enumerable.Range(0, 100).Select(_ => IsGroupRefused(Node)).ToArray();
        Assert.Equal(here, Enumerable.Range(0, 100).Select(_ => IsGroupRefused(other.Cluster.Nodes[1])));
        Assert.InRange(here.Count(isRefused => isRefused), 30, 70);
    }

    [Fact]
    public void Some_calls_may_be_allowed_again_while_others_stay_refused()
    {
        Refusals.Begin(SystemCalls.All);
        Refusals.End(SystemCalls.OpenGroup | SystemCalls.Send);
        OpenGroup();
        Assert.Throws<TransportException>(() => OpenOwn());
    }

    [Fact]
    public void A_refused_send_is_lost_and_counted()
    {
        Refusals.Begin(SystemCalls.Send, atMost: 1);
        Assert.Equal(SendOutcome.Refused, _bench.Send(_bench.AddressOf(0), from: 1));
        Assert.Equal(SendOutcome.Sent, _bench.Send(_bench.AddressOf(0), from: 1));
        _bench.Run();
        Assert.Single(_bench.Unicast[0].Runs);
        Assert.Equal(1, _bench.Ports[1].RefusedSends);
    }

    [Fact]
    public void A_refused_listener_throws_and_a_refused_connection_closes_its_handler()
    {
        Refusals.Begin(SystemCalls.Listen | SystemCalls.Connect, atMost: 2);
        Assert.Throws<TransportException>(() => Node.Environment.Listen(Service, new RecordingAcceptor()));
        _bench.Cluster.Nodes[0].Environment.Listen(Service, new RecordingAcceptor());
        var handler = new RecordingHandler();
        Node.Environment.Connect(new IPEndPoint(_bench.Cluster.Nodes[0].Address, Service.Port), handler);
        Assert.Empty(handler.Closings);
        _bench.Run();
        Assert.Equal(["Too many open files"], handler.Closings);
        Assert.Equal(0, handler.Connections);
    }

    [Fact]
    public void Connections_leave_the_descriptors_that_the_process_keeps_for_itself()
    {
        const int Limit = 40;
        var acceptor = new RecordingAcceptor();
        Node.Environment.Listen(Service, acceptor);
        var room = new DescriptorRoom(Limit, static () => DateTimeOffset.UnixEpoch);
        Node.Faults.Descriptors = room;
        var handlers = Enumerable.Range(0, Limit).Select(_ => new RecordingHandler()).ToArray();
        foreach (var handler in handlers)
        {
            _bench.Cluster.Nodes[0].Environment.Connect(new IPEndPoint(Node.Address, Service.Port), handler);
        }

        _bench.Run();
        Assert.Equal(Limit - (room.Reserve / 2), acceptor.Accepted.Count);
        Assert.Equal(room.Reserve / 2, handlers.Count(static one => one.Closings.Count == 1));
        Assert.True(room.IsShort);
    }

    [Fact]
    public void A_connection_waits_while_the_listening_system_accepts_none()
    {
        var acceptor = new RecordingAcceptor();
        Node.Environment.Listen(Service, acceptor);
        Refusals.Begin(SystemCalls.Accept);
        var handler = new RecordingHandler();
        _bench.Cluster.Nodes[0].Environment.Connect(new IPEndPoint(Node.Address, Service.Port), handler);
        _bench.Run();
        Assert.Equal((0, 0, 0), (handler.Connections, handler.Closings.Count, acceptor.Accepted.Count));
        Refusals.End();
        _bench.Run();
        Assert.Equal((1, 1), (handler.Connections, acceptor.Accepted.Count));
    }

    [Fact]
    public void Refusals_stay_over_a_restart_and_end_when_all_is_healed()
    {
        Refusals.Begin(SystemCalls.OpenGroup);
        Node.Crash();
        Node.Restart();
        Assert.Throws<TransportException>(OpenGroup);
        _bench.Cluster.Heal();
        OpenGroup();
    }

    private static bool IsGroupRefused(SimulatedMachine node)
    {
        try
        {
            Open(node, Bench.Group).Dispose();
            return false;
        }
        catch (TransportException)
        {
            return true;
        }
    }

    private static IDatagramPort Open(SimulatedMachine node, IPAddress? group) => node.Environment.OpenPort(
        new DatagramPortOptions { Group = group, Port = group is null ? 0 : Bench.GroupPort }, new RecordingReceiver(node.Environment));

    private void OpenGroup() => Open(Node, Bench.Group);

    private void OpenOwn() => Open(Node, group: null);
}
