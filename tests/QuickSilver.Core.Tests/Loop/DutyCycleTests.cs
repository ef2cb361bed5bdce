using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Loop;

// The cycle by calls, in a time of its own: each step takes as long as the test says.
public sealed class DutyCycleTests
{
    private readonly Host _host = new();
    private readonly PriorityQueues _queues = new();
    private readonly CoreCounters _counters = new();
    private readonly SlabPool _pool = new(4 << 20);
    private readonly DutyCycle _cycle;
    private readonly List<string> _steps = [];
    private readonly ScriptedPort _port;

    public DutyCycleTests()
    {
        _cycle = new DutyCycle(_host, new CompletionIntake(_pool, _queues, _counters, new LogRecorder()), _queues, _counters);
        _port = new ScriptedPort(new RecordingReceiver { OnEach = run => _steps.Add(Name(run.Span)) });
    }

    [Fact]
    public void Control_that_came_last_is_served_before_the_data_of_the_same_turn()
    {
        _port.Bring([1], [2], [RecordingReceiver.ControlMark]);
        Turn();
        Assert.Equal(["control", "data 1", "data 2"], _steps);
    }

    [Fact]
    public void Repairs_that_came_last_are_served_after_control_and_before_new_data()
    {
        _port.Bring([1], [2], [RecordingReceiver.RepairMark], [RecordingReceiver.ControlMark], [3]);
        Turn();
        Assert.Equal(["control", $"data {RecordingReceiver.RepairMark}", "data 1", "data 2", "data 3"], _steps);
    }

    [Fact]
    public void Repairs_count_for_what_handlers_are_behind()
    {
        _host.StepTime = Quantum.InputShare;
        for (int turn = 0; turn < 100; turn++)
        {
            _port.Bring([.. Enumerable.Repeat(new byte[] { RecordingReceiver.RepairMark }, 16)]);
            Turn();
        }

        Assert.InRange(_queues.Count(WorkClass.InboundRepair), 60, 80);
    }

    [Fact]
    public void Control_is_taken_in_while_handlers_are_behind_with_data()
    {
        _host.StepTime = Quantum.InputShare;
        _port.Bring([.. Enumerable.Repeat(new byte[] { 1 }, 100)]);
        var control = new ScriptedPort(_port.Receiver);
        for (int turn = 0; turn < 10; turn++)
        {
            Turn();
        }

        _steps.Clear();
        control.Bring([RecordingReceiver.ControlMark], [RecordingReceiver.ControlMark]);
        _cycle.TakeIn([_port, control]);
        Serve();
        Serve();
        Assert.Equal(["control", "control"], _steps);
    }

    [Fact]
    public void Nothing_is_taken_in_when_ports_full_of_data_have_added_as_much_again()
    {
        _host.StepTime = Quantum.InputShare;
        ScriptedPort[] ports = [.. Enumerable.Range(0, 40).Select(_ => new ScriptedPort(_port.Receiver))];
        Array.ForEach(ports, port => port.Bring([.. Enumerable.Repeat(new byte[] { 1 }, 100)]));
        for (int turn = 0; turn < 20; turn++)
        {
            _cycle.TakeIn(ports);
            Serve();
        }

        Assert.InRange(_queues.Count(WorkClass.InboundData), 120, 128 + ports.Length);
    }

    [Fact]
    public void A_node_has_caught_up_when_it_has_handled_all_that_waited_when_it_looked()
    {
        _host.StepTime = Ms(20);
        _port.Bring([.. Enumerable.Repeat(new byte[] { 1 }, 4)]);
        WholeTurn();
        Assert.Equal(TimeSpan.Zero, _cycle.CaughtUpAt);

        var looked = _host.Now;
        WholeTurn();
        Assert.Equal(4, _steps.Count);
        Assert.Equal(looked, _cycle.CaughtUpAt);
    }

    [Fact]
    public void A_node_has_not_caught_up_while_more_waits_at_a_port_than_a_turn_takes_in()
    {
        _host.StepTime = Ms(1);
        _port.Bring([.. Enumerable.Repeat(new byte[] { 1 }, 20)]);
        WholeTurn();
        Assert.Equal((TimeSpan.Zero, true), (_cycle.CaughtUpAt, _queues.IsEmpty));

        var looked = _host.Now;
        WholeTurn();
        Assert.Equal(looked, _cycle.CaughtUpAt);
    }

    [Fact]
    public void A_turn_serves_packets_then_alarms_then_requests()
    {
        _cycle.Requests.Enqueue(new ActionRequest(() => _steps.Add("request")));
        _cycle.Schedule(new Alarm(() => _steps.Add("alarm")), TimeSpan.Zero);
        _port.Bring([1]);
        Turn();
        Assert.Equal(["data 1", "alarm", "request"], _steps);
    }

    [Fact]
    public void Receivers_hear_of_the_end_of_a_batch_once_and_before_alarms()
    {
        int batchesAtAlarm = -1;
        var receiver = (RecordingReceiver)_port.Receiver;
        _cycle.Schedule(new Alarm(() => batchesAtAlarm = receiver.Batches), TimeSpan.Zero);
        _port.Bring([1], [2], [3]);
        Turn();
        Assert.Equal((1, 1), (receiver.Batches, batchesAtAlarm));
    }

    [Fact]
    public void Slow_packets_keep_alarms_and_requests_waiting_for_a_quantum_and_one_step_at_most()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(20);
        var alarmAt = TimeSpan.Zero;
        _cycle.Schedule(new Alarm(() => alarmAt = _host.Now), TimeSpan.Zero);
        _port.Bring([.. Enumerable.Range(1, 10).Select(i => new[] { (byte)i })]);
        Turn();
        Assert.Equal(3, _steps.Count);
        Assert.InRange(alarmAt, Quantum.InputShare, Quantum.InputShare + (2 * _host.StepTime));
        Assert.True(_cycle.IsWorkLeft);
    }

    [Fact]
    public void A_token_waits_for_the_turn_it_came_in_and_not_for_the_data_that_is_left()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(20);
        _port.Bring([.. Enumerable.Range(1, 16).Select(i => new[] { (byte)i })]);
        Turn();
        _steps.Clear();
        _port.Bring([RecordingReceiver.ControlMark]);
        Turn();
        Assert.Equal("control", _steps[0]);
    }

    [Fact]
    public void Alarms_that_come_due_while_alarms_fire_wait_for_the_next_turn()
    {
        int fired = 0;
        Alarm? again = null;
        again = new Alarm(() =>
        {
            fired++;
            _cycle.Schedule(again!, TimeSpan.Zero);
        });
        _host.StepTime = TimeSpan.FromTicks(1);
        _cycle.Schedule(again, TimeSpan.Zero);
        Turn();
        Assert.Equal(1, fired);
        Turn();
        Assert.Equal(2, fired);
    }

    [Fact]
    public void Alarms_have_a_quantum_and_continue_in_the_next_turn()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(1);
        int fired = 0;
        for (int i = 0; i < 12; i++)
        {
            _cycle.Schedule(new Alarm(() => fired++), TimeSpan.Zero);
        }

        Turn();
        Assert.Equal(5, fired);
        Turn();
        Turn();
        Assert.Equal(12, fired);
    }

    [Fact]
    public void Requests_have_a_quantum_and_what_is_left_needs_no_event_to_continue()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(1);
        int executed = 0;
        for (int i = 0; i < 7; i++)
        {
            _cycle.Requests.Enqueue(new ActionRequest(() => executed++));
        }

        Turn();
        Assert.Equal((5, true), (executed, _cycle.IsWorkLeft));
        Turn();
        Assert.Equal((7, false), (executed, _cycle.IsWorkLeft));
    }

    [Fact]
    public void At_the_end_all_requests_are_executed_whatever_time_they_take()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(1);
        int executed = 0;
        for (int i = 0; i < 70; i++)
        {
            _cycle.Requests.Enqueue(new ActionRequest(() => executed++));
        }

        _cycle.ExecuteRequests(untilEmpty: true);
        Assert.Equal((70, false), (executed, _cycle.IsWorkLeft));
    }

    [Fact]
    public void Postponed_work_is_done_at_the_end_of_the_turn_and_by_priority()
    {
        _cycle.Requests.Enqueue(new ActionRequest(() =>
        {
            _cycle.Defer(WorkClass.Other, Step("other"));
            _cycle.Defer(WorkClass.Disk, Step("disk"));
            _cycle.Defer(WorkClass.OutboundData, Step("send"));
            _cycle.Defer(WorkClass.OutboundControl, Step("send control"));
            _steps.Add("request");
        }));
        _cycle.Schedule(new Alarm(() => _steps.Add("alarm")), TimeSpan.Zero);
        _port.Bring([1]);
        Turn();
        Assert.Equal(["data 1", "alarm", "request", "send control", "send", "disk", "other"], _steps);
        Assert.False(_cycle.IsWorkLeft);
    }

    [Fact]
    public void Work_that_puts_itself_off_again_lets_the_ports_be_read_in_between()
    {
        int left = 3;
        ActionRequest? send = null;
        send = new ActionRequest(() =>
        {
            _steps.Add("send");
            if (--left > 0)
            {
                _cycle.Defer(WorkClass.OutboundData, send!);
            }
        });
        _cycle.Defer(WorkClass.OutboundData, send);
        for (byte turn = 1; turn <= 3; turn++)
        {
            Assert.True(_cycle.IsWorkLeft);
            _port.Bring([turn]);
            Turn();
        }

        Assert.Equal(["data 1", "send", "data 2", "send", "data 3", "send"], _steps);
        Assert.False(_cycle.IsWorkLeft);
    }

    [Fact]
    public void Slow_output_keeps_the_ports_waiting_for_a_quantum_at_most()
    {
        _host.StepTime = Ms(2);
        for (int i = 0; i < 5; i++)
        {
            _cycle.Defer(WorkClass.OutboundData, Step($"send {i}"));
        }

        _port.Bring([1]);
        Turn();
        _port.Bring([2]);
        Turn();
        Assert.Equal(["data 1", "send 0", "send 1", "send 2", "data 2", "send 3", "send 4"], _steps);
        Assert.Equal((Ms(10).Ticks, 1), (_counters.OutputTicks, _counters.QuantaExceeded));
    }

    [Fact]
    public void No_more_is_taken_in_while_handlers_are_behind()
    {
        _host.StepTime = Quantum.InputShare;
        for (int turn = 0; turn < 100; turn++)
        {
            _port.Bring([.. Enumerable.Repeat(new byte[] { 1 }, 16)]);
            Turn();
        }

        Assert.InRange(_queues.Count(WorkClass.InboundData), 60, 80);
        Assert.True(_port.Waiting > 1000);
    }

    [Fact]
    public void The_time_of_each_part_and_the_quanta_that_were_not_enough_are_counted()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(3);
        for (int i = 0; i < 3; i++)
        {
            _cycle.Requests.Enqueue(new ActionRequest(() => { }));
        }

        _cycle.Schedule(new Alarm(() => { }), TimeSpan.Zero);
        _port.Bring([1], [2]);
        Turn();

        // Two runs and the end of their batch; one alarm; two requests of three.
        var ticks = (_counters.InputTicks, _counters.AlarmTicks, _counters.RequestTicks);
        Assert.Equal((Ms(9).Ticks, Ms(3).Ticks, Ms(6).Ticks), ticks);
        Assert.Equal(1, _counters.QuantaExceeded);
    }

    [Fact]
    public void The_time_of_each_queue_is_counted()
    {
        _host.StepTime = Ms(1);
        _port.Bring([RecordingReceiver.ControlMark], [RecordingReceiver.RepairMark], [1], [2]);
        _cycle.Defer(WorkClass.OutboundData, Step("send"));
        _cycle.Defer(WorkClass.Disk, Step("disk"));
        _cycle.Defer(WorkClass.Disk, Step("disk"));
        Turn();

        // The end of the batch counts as data.
        Assert.Equal([1, 1, 3, 0, 1, 2, 0], _counters.QueueTicks.Select(ticks => ticks / Ms(1).Ticks));
        Assert.Equal(_counters.InputTicks + _counters.OutputTicks, _counters.QueueTicks.Sum());
    }

    [Fact]
    public void How_late_alarms_fire_is_counted_by_classes_and_the_latest_is_known()
    {
        _host.StepTime = TimeSpan.FromMilliseconds(4);
        for (int i = 0; i < 4; i++)
        {
            _cycle.Schedule(new Alarm(() => { }), TimeSpan.Zero);
        }

        Turn();
        Turn();

        // After 0, 4, 8 and 12 ms.
        var lateness = _counters.AlarmLateness;
        Assert.Equal((1, 1, 2), (lateness.CountOf(0), lateness.CountOf(12), lateness.CountOf(13) + lateness.CountOf(14)));
        Assert.Equal(1, _counters.LateAlarms);
        Assert.Equal(Ms(12), lateness.TakeGreatest());
        Assert.Equal(TimeSpan.Zero, lateness.TakeGreatest());
    }

    [Fact]
    public void Runs_of_a_port_that_a_handler_closed_are_dropped_and_their_memory_comes_back()
    {
        var receiver = new RecordingReceiver { OnEach = _ => _port.Close() };
        var port = new ScriptedPort(receiver, _port);
        port.Bring([1], [2], [3]);
        _cycle.TakeIn([port]);
        Serve();
        Assert.Single(receiver.Runs);
        Assert.InRange(_pool.LeasedBlocks, 0, 1);
    }

    [Fact]
    public void An_exception_of_a_handler_reaches_the_host_and_ends_nothing()
    {
        var thrower = new ScriptedPort(new RecordingReceiver { OnEach = _ => throw new InvalidDataException("run") });
        thrower.Bring([1]);
        _cycle.Schedule(new Alarm(() => throw new InvalidDataException("alarm")), TimeSpan.Zero);
        _cycle.Requests.Enqueue(new ActionRequest(() => throw new InvalidDataException("request")));
        _cycle.Requests.Enqueue(new ActionRequest(() => _steps.Add("after")));
        _cycle.TakeIn([thrower]);
        Serve();
        Assert.Equal(["run", "alarm", "request"], _host.Escaped);
        Assert.Equal(["after"], _steps);
    }

    [Fact]
    public void Requests_taken_in_and_not_served_give_their_memory_back_at_the_end()
    {
        _port.Bring([1], [2]);
        _cycle.TakeIn([_port]);
        _cycle.Drop();
        Assert.Equal(0, _pool.LeasedBlocks);
        Assert.False(_cycle.IsWorkLeft);
    }

    private void Turn()
    {
        _cycle.TakeIn([_port]);
        Serve();
    }

    private void WholeTurn()
    {
        _cycle.BeginTurn(_host.Now);
        Turn();
    }

    private void Serve()
    {
        _cycle.ServeInput();
        _cycle.FireAlarms();
        _cycle.ExecuteRequests();
        _cycle.ServeOutput();
    }

    private ActionRequest Step(string name) => new(() => _steps.Add(name));

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);

    private static string Name(ReadOnlySpan<byte> run) => run[0] == RecordingReceiver.ControlMark ? "control" : $"data {run[0]}";

    private sealed class Host : IDutyHost
    {
        public TimeSpan Now { get; private set; } = TimeSpan.Zero;

        public TimeSpan StepTime { get; set; }

        public List<string> Escaped { get; } = [];

        public void BeginRun(PortSource port, in PlacedRun run)
        {
        }

        public TimeSpan EndStep(object handler, TimeSpan began) => Now += StepTime;

        public PauseCause OnPause(object? handler, TimeSpan length) => PauseCause.NotRunning;

        public void OnEscaped(Exception exception, object handler) => Escaped.Add(exception.Message);
    }

    private sealed class ScriptedPort(IDatagramReceiver receiver, ScriptedPort? closedWith = null) : PortSource(receiver)
    {
        public override IDatagramPort Port { get; } = new NoPort();

        private readonly Queue<byte[]> _waiting = new();
        private bool _isClosed;

        public int Waiting => _waiting.Count;

        public override bool IsClosed => _isClosed || closedWith is { IsClosed: true };

        public void Bring(params byte[][] runs) => Array.ForEach(runs, _waiting.Enqueue);

        public void Close() => _isClosed = true;

        public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
        {
            completion = default;
            if (!_waiting.TryDequeue(out byte[]? bytes))
            {
                return TakeOutcome.Nothing;
            }

            if (!memory.TryPlace(bytes, out var run))
            {
                return TakeOutcome.NoMemory;
            }

            completion = new Completion(this, run);
            return TakeOutcome.Taken;
        }
    }

    private sealed class NoPort : IDatagramPort
    {
        public IPEndPoint LocalEndPoint { get; } = new(IPAddress.Loopback, 1);

        public int MaxRunSegments => 1;

        public long KernelDrops => 0;

        public int ReceiveBufferBytes => 0;

        public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination) => SendOutcome.Refused;

        public void Dispose()
        {
        }
    }
}
