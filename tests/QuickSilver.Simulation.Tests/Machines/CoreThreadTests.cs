using QuickSilver.Core.Alarms;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Machines;

// A simulated node runs the core thread of a machine, so scheduling delays are those of a machine.
public sealed class CoreThreadTests
{
    private const byte Token = 1;
    private const byte Data = 0;

    private readonly SimulatedMachines _cluster = new(seed: 5);
    private readonly List<(string What, TimeSpan At)> _done = [];
    private readonly IDatagramPort _sender;
    private readonly DatagramAddress _tokens;
    private readonly DatagramAddress _data;

    public CoreThreadTests()
    {
        _cluster.AddNodes(2);
        Node.Model = new NodeModel { CoalesceProbability = 0 };
        var receiver = new Receiver(this);
        var tokens = Node.Environment.OpenPort(new DatagramPortOptions(), receiver);
        var data = Node.Environment.OpenPort(new DatagramPortOptions(), receiver);
        (_tokens, _data) = (new DatagramAddress(tokens.LocalEndPoint), new DatagramAddress(data.LocalEndPoint));
        _sender = _cluster.Nodes[0].Environment.OpenPort(new DatagramPortOptions(), receiver);
    }

    private SimulatedMachine Node => _cluster.Nodes[1];

    [Fact]
    public void A_token_goes_before_data_that_came_to_another_port_first()
    {
        Node.Pause(Ms(50));
        SendData(10);
        _cluster.Run(Ms(10));
        Send(Token, _tokens);
        _cluster.Run(Ms(100));

        Assert.Equal("token", _done[0].What);
        Assert.Equal(11, _done.Count);
    }

    [Fact]
    public void A_token_that_comes_while_a_turn_lasts_waits_for_its_end_and_no_longer()
    {
        Node.Model = Node.Model with { CostPerDatagram = Ms(2) };
        Node.Pause(Ms(10));
        SendData(16);
        _cluster.At(Ms(11), () => Send(Token, _tokens));
        _cluster.At(Ms(12), () => SendData(16));
        _cluster.Run(Ms(200));

        // Sixteen runs are a turn: they end at 42 ms.
        int token = _done.FindIndex(step => step.What == "token");
        Assert.Equal(16, token);
        Assert.InRange(_done[token].At, Ms(42), Ms(45));
    }

    [Fact]
    public void Under_a_load_of_data_alarms_and_requests_are_late_by_no_more_than_a_quantum()
    {
        Node.Model = Node.Model with { CostPerDatagram = Ms(3) };
        Node.Environment.Schedule(new Alarm(() => Note("alarm")), Ms(12));
        _cluster.At(Ms(12), () => Node.Environment.Post(new ActionRequest(() => Note("request"))));
        Node.Pause(Ms(10));
        SendData(64);
        _cluster.Run(Ms(500));

        Assert.InRange(TimeOf("alarm"), Ms(12), Ms(10) + Quantum.InputShare + Ms(6));
        Assert.InRange(TimeOf("request"), Ms(12), Ms(10) + Quantum.InputShare + Ms(6));
        Assert.Equal(64, _done.Count(step => step.What == "data"));
    }

    [Fact]
    public void Time_passes_within_a_turn_as_its_steps_cost()
    {
        Node.Model = Node.Model with { CostPerEvent = Ms(1) };
        for (int i = 0; i < 3; i++)
        {
            Node.Environment.Post(new ActionRequest(() => Note("request")));
        }

        _cluster.Run(Ms(10));
        Assert.Equal([Ms(0), Ms(1), Ms(2)], _done.Select(step => step.At));
    }

    [Fact]
    public void A_request_that_posts_itself_lets_alarms_through()
    {
        Node.Model = Node.Model with { CostPerEvent = TimeSpan.FromMicroseconds(100) };
        bool isOver = false;
        ActionRequest? again = null;
        again = new ActionRequest(() =>
        {
            if (!isOver)
            {
                Node.Environment.Post(again!);
            }
        });
        Node.Environment.Post(again);
        Node.Environment.Schedule(new Alarm(() => isOver = true), Ms(20));
        _cluster.Run(Ms(100));
        Assert.True(isOver);
        Assert.InRange(Node.Environment.Spent, Ms(20), Ms(20) + Quantum.RequestShare + Ms(1));
    }

    [Fact]
    public void A_steady_stream_is_gathered_by_short_rests_and_a_single_datagram_is_not_delayed()
    {
        for (int i = 0; i < 100; i++)
        {
            _cluster.At(TimeSpan.FromMicroseconds(20 * i), () => Send(Data, _data));
        }

        _cluster.Run(Ms(10));
        int turns = _done.Select(step => step.At).Distinct().Count();
        Assert.InRange(turns, 10, 50);

        _done.Clear();
        var sent = _cluster.Now;
        Send(Data, _data);
        _cluster.Run(Ms(10));
        Assert.InRange(_done.Single().At - sent, TimeSpan.Zero, TimeSpan.FromMicroseconds(150));
    }

    [Fact]
    public void A_node_that_ends_in_a_turn_does_nothing_more_of_it()
    {
        Node.Pause(Ms(10));
        SendData(5);
        var life = Node.Environment;
        life.Post(new ActionRequest(() => Note("request")));
        life.Schedule(new Alarm(() => Note("alarm")), Ms(1));
        _whenData = () => Node.Crash();
        _cluster.Run(Ms(100));
        Assert.Equal(["data"], _done.Select(step => step.What));
        Assert.Equal(0, life.Buffers.LeasedBlocks);
    }

    private Action? _whenData;

    private void SendData(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Send(Data, _data);
        }
    }

    private void Send(byte kind, DatagramAddress to) => _sender.Send([kind, 0, 0, 0], 4, to);

    private void Note(string what) => _done.Add((what, Node.Environment.Now));

    private TimeSpan TimeOf(string what) => _done.Single(step => step.What == what).At;

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);

    private sealed class Receiver(CoreThreadTests test) : IDatagramReceiver
    {
        public bool IsControl(ReadOnlySpan<byte> firstBytes) => firstBytes[0] == Token;

        public void OnRun(in ReceivedRun run)
        {
            test.Note(run.Span[0] == Token ? "token" : "data");
            test._whenData?.Invoke();
        }

        public void OnBatchEnd()
        {
        }
    }
}
