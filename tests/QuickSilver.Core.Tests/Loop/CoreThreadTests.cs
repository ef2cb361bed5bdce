using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Overlapped;

namespace QuickSilver.Core.Tests.Loop;

// The whole duty cycle over real sockets, once per poller that runs here. F6, F7.
public abstract class CoreThreadContract : IDisposable
{
    private readonly MachineNode _node;

    internal CoreThreadContract(Func<IPoller> newPoller)
    {
        _node = new MachineNode(newPoller, 64 << 20);
    }

    public void Dispose() => _node.Dispose();

    [Fact]
    public void Requests_of_one_thread_run_in_their_order()
    {
        var seen = new List<int>();
        for (int i = 0; i < 20_000; i++)
        {
            int number = i;
            _node.Environment.Post(new ActionRequest(() => seen.Add(number)));
        }

        _node.Do(() => { });
        Assert.Equal(Enumerable.Range(0, 20_000), seen);
    }

    [Fact]
    public void Requests_of_many_threads_all_run_and_a_sleeping_thread_wakes_for_each_burst()
    {
        int executed = 0;
        for (int burst = 0; burst < 50; burst++)
        {
            Parallel.For(0, 4, _ =>
            {
                for (int i = 0; i < 100; i++)
                {
                    _node.Environment.Post(new ActionRequest(() => executed++));
                }
            });
            int expected = (burst + 1) * 400;
            Patience.Until(() => Volatile.Read(ref executed) == expected, "the burst");
        }
    }

    [Fact]
    public void Alarms_fire_in_the_order_of_their_times_and_never_early()
    {
        var fired = new List<int>();
        var early = new List<int>();
        _node.Do(() =>
        {
            var start = _node.Environment.Now;
            List<Alarm> alarms = [];
            do
            {
                // Times count from the moment at which each is scheduled: if the thread stood still between two, their order is another.
                alarms.ForEach(_node.Environment.Cancel);
                alarms.Clear();
                start = _node.Environment.Now;
                foreach (int milliseconds in new[] { 9, 3, 6, 1, 12, 3, 0 })
                {
                    var begun = start;
                    var delay = TimeSpan.FromMilliseconds(milliseconds);
                    var alarm = new Alarm(() =>
                    {
                        fired.Add(milliseconds);
                        if (_node.Environment.Now - begun < delay)
                        {
                            early.Add(milliseconds);
                        }
                    });
                    _node.Environment.Schedule(alarm, delay);
                    alarms.Add(alarm);
                }
            }
            while (_node.Environment.Now - start >= TimeSpan.FromMilliseconds(0.5));
        });
        Patience.Until(() => _node.Do(() => fired.Count) == 7, "all alarms");
        Assert.Equal([0, 1, 3, 3, 6, 9, 12], fired);
        Assert.Empty(early);
    }

    [Fact]
    public void A_cancelled_alarm_never_fires_and_a_moved_one_fires_once()
    {
        int cancelled = 0;
        int moved = 0;
        bool isOver = false;
        _node.Do(() =>
        {
            var one = new Alarm(() => cancelled++);
            var two = new Alarm(() => moved++);
            _node.Environment.Schedule(one, TimeSpan.FromMilliseconds(1));
            _node.Environment.Schedule(two, TimeSpan.FromMilliseconds(1));
            _node.Environment.Schedule(two, TimeSpan.FromMilliseconds(3));
            _node.Environment.Schedule(new Alarm(() => isOver = true), TimeSpan.FromMilliseconds(6));
            _node.Environment.Cancel(one);
        });
        Patience.Until(() => _node.Do(() => isOver), "the last alarm");
        Assert.Equal((0, 1), (cancelled, moved));
    }

    [Fact]
    public void An_alarm_that_sets_itself_for_at_once_lets_others_through()
    {
        bool isOver = false;
        Alarm? again = null;
        again = new Alarm(() =>
        {
            if (!isOver)
            {
                _node.Environment.Schedule(again!, TimeSpan.Zero);
            }
        });
        _node.Do(() => _node.Environment.Schedule(again, TimeSpan.Zero));
        _node.Do(() => isOver = true);
    }

    [Fact]
    public void A_request_that_posts_itself_lets_alarms_and_packets_through()
    {
        bool isOver = false;
        var again = new SelfPoster(_node, () => isOver);
        var receiver = new RecordingReceiver();
        bool fired = false;
        _node.Do(() =>
        {
            _node.Environment.Post(again);
            _node.Environment.Schedule(new Alarm(() => fired = true), TimeSpan.FromMilliseconds(1));
            var port = _node.Environment.OpenPort(new DatagramPortOptions(), receiver);
            port.Send([1], 1, new DatagramAddress(port.LocalEndPoint));
        });
        Patience.Until(() => receiver.Runs.Length == 1 && _node.Do(() => fired), "the packet and the alarm");
        _node.Do(() => isOver = true);
    }

    [Fact]
    public void A_token_is_handled_before_data_that_came_earlier()
    {
        var order = new List<byte>();
        var receiver = new RecordingReceiver { OnEach = run => order.Add(run.Span[0]) };
        _node.Do(() =>
        {
            var port = _node.Environment.OpenPort(new DatagramPortOptions { SegmentationOffload = false }, receiver);
            var to = new DatagramAddress(port.LocalEndPoint);
            // All of it waits in the socket when this request ends.
            for (byte i = 1; i <= 5; i++)
            {
                port.Send([i], 1, to);
            }

            port.Send([RecordingReceiver.ControlMark], 1, to);
        });
        Patience.Until(() => receiver.Runs.Length == 6, "all of it");
        _node.Do(() => Assert.Equal([RecordingReceiver.ControlMark, 1, 2, 3, 4, 5], order));
        Assert.Equal(1, receiver.Batches);
    }

    [Fact]
    public void A_port_closed_by_a_handler_hears_nothing_more()
    {
        RecordingReceiver? receiver = null;
        receiver = new RecordingReceiver { OnEach = run => run.Port.Dispose() };
        _node.Do(() =>
        {
            var port = _node.Environment.OpenPort(new DatagramPortOptions { SegmentationOffload = false }, receiver);
            var to = new DatagramAddress(port.LocalEndPoint);
            port.Send([1], 1, to);
            port.Send([2], 1, to);
        });
        Patience.Until(() => receiver.Runs.Length > 0, "the first");
        _node.Do(() => { });
        Assert.Single(receiver.Runs);
    }

    [Fact]
    public void Exceptions_of_handlers_are_counted_and_logged_and_end_nothing()
    {
        var receiver = new RecordingReceiver { OnEach = _ => throw new InvalidOperationException("planted in a run") };
        _node.Environment.Post(new ActionRequest(() => throw new InvalidOperationException("planted in a request")));
        _node.Do(() =>
        {
            _node.Environment.Schedule(new Alarm(() => throw new InvalidOperationException("planted in an alarm")), TimeSpan.Zero);
            var port = _node.Environment.OpenPort(new DatagramPortOptions(), receiver);
            port.Send([1], 1, new DatagramAddress(port.LocalEndPoint));
        });
        Patience.Until(() => _node.Do(() => _node.Environment.Counters.HandlerExceptions) == 3, "three exceptions");
        Assert.Equal(3, _node.Log.Entries.Count(entry => entry.Id == 1020));
        Assert.Contains(
            _node.Log.Entries, entry => entry.Text.Contains(nameof(Exceptions_of_handlers_are_counted_and_logged_and_end_nothing)));
        Patience.Until(() => receiver.Batches == 1, "the end of the batch");
    }

    [Fact]
    public void A_handler_that_blocks_is_named()
    {
        _node.Environment.Post(new ActionRequest(() => SpinWait.SpinUntil(() => false, 60)));
        _node.Do(() => { });
        Patience.Until(() => _node.Log.Has(1021) || _node.Log.Has(1022), "the warning");
        Assert.True(_node.Environment.Counters.LongSteps >= 1);
    }

    [Fact]
    public void Other_threads_are_kept_out()
    {
        Assert.Throws<InvalidOperationException>(() => _node.Environment.OpenPort(new DatagramPortOptions(), new RecordingReceiver()));
        Assert.Throws<InvalidOperationException>(() => _node.Environment.Schedule(new Alarm(() => { }), TimeSpan.Zero));
        Assert.Throws<InvalidOperationException>(
            () => _node.Environment.Connect(new IPEndPoint(IPAddress.Loopback, 1), new StreamRecorder()));
    }

    private sealed class SelfPoster(MachineNode node, Func<bool> isOver) : Request
    {
        public override void Execute()
        {
            if (!isOver())
            {
                node.Environment.Post(this);
            }
        }
    }
}

public sealed class DefaultCoreThreadTests() : CoreThreadContract(() => Poller.Create(PollerKind.Default));

public sealed class SelectCoreThreadTests() : CoreThreadContract(() => Poller.Create(PollerKind.Select));

public sealed class CompletionPortCoreThreadTests() : CoreThreadContract(() => new CompletionPortPoller(new EmulatedPort()));
