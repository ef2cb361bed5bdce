using QuickSilver.Core.Alarms;
using QuickSilver.Core.Requests;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Machines;

// Alarms, requests, clocks and chance as protocol code sees them. F8: clock steps.
public sealed class EnvironmentTests
{
    private readonly SimulatedMachines _cluster = new(3);

    [Fact]
    public void Alarms_fire_once_when_due_and_in_order_of_setting()
    {
        var life = _cluster.AddNode().Environment;
        var fired = new List<(string, TimeSpan)>();
        var alarms = "abc".Select(name => new Alarm(() => fired.Add((name.ToString(), life.Now)))).ToArray();
        life.Schedule(alarms[0], Ms(20));
        life.Schedule(alarms[1], Ms(10));
        life.Schedule(alarms[2], Ms(10));
        Assert.All(alarms, alarm => Assert.True(alarm.IsPending));
        _cluster.Run(Ms(100));
        Assert.Equal([("b", Ms(10)), ("c", Ms(10)), ("a", Ms(20))], fired);
        Assert.All(alarms, alarm => Assert.False(alarm.IsPending));
    }

    [Fact]
    public void A_pending_alarm_is_moved_and_a_cancelled_one_stays_silent()
    {
        var life = _cluster.AddNode().Environment;
        var fired = new List<TimeSpan>();
        var moved = new Alarm(() => fired.Add(life.Now));
        var cancelled = new Alarm(() => Assert.Fail("cancelled"));
        life.Schedule(moved, Ms(10));
        life.Schedule(cancelled, Ms(10));
        life.Schedule(moved, Ms(30));
        life.Cancel(cancelled);
        life.Cancel(cancelled);
        Assert.False(cancelled.IsPending);
        _cluster.Run(Ms(100));
        Assert.Equal([Ms(30)], fired);
    }

    [Fact]
    public void An_alarm_may_set_itself_again_while_it_fires()
    {
        var life = _cluster.AddNode().Environment;
        int fired = 0;
        Alarm? alarm = null;
        alarm = new Alarm(() =>
        {
            fired++;
            life.Schedule(alarm!, Ms(10));
        });
        life.Schedule(alarm, Ms(10));
        _cluster.Run(Ms(95));
        Assert.Equal(9, fired);
        Assert.True(alarm.IsPending);
    }

    [Fact]
    public void An_alarm_set_again_and_again_does_not_fill_the_queue()
    {
        var life = _cluster.AddNode().Environment;
        int fired = 0;
        var alarm = new Alarm(() => fired++);
        for (int i = 0; i < 100_000; i++)
        {
            life.Schedule(alarm, TimeSpan.FromHours(1));
        }

        Assert.InRange(_cluster.Time.QueuedEvents, 1, 10_000);
        _cluster.Run(TimeSpan.FromHours(2));
        Assert.Equal(1, fired);
        Assert.Equal(0, _cluster.Time.QueuedEvents);
    }

    [Fact]
    public void An_alarm_belongs_to_one_node()
    {
        var alarm = new Alarm(() => { });
        _cluster.AddNodes(2);
        _cluster.Nodes[0].Environment.Schedule(alarm, Ms(1));
        Assert.Throws<InvalidOperationException>(() => _cluster.Nodes[1].Environment.Schedule(alarm, Ms(1)));
    }

    [Fact]
    public void Requests_execute_in_order_at_the_same_time_and_may_be_posted_again_when_begun()
    {
        var life = _cluster.AddNode().Environment;
        var done = new List<int>();
        Request? again = null;
        again = new ActionRequest(() =>
        {
            done.Add(1);
            if (done.Count < 4)
            {
                life.Post(again!);
            }
        });
        life.Post(again);
        life.Post(new ActionRequest(() => done.Add(2)));
        Assert.Empty(done);
        _cluster.Run(TimeSpan.Zero);
        Assert.Equal([1, 2, 1, 1], done);
        Assert.Equal(TimeSpan.Zero, life.Now);
    }

    [Fact]
    public void A_request_cannot_be_posted_twice_at_once()
    {
        var life = _cluster.AddNode().Environment;
        var request = new ActionRequest(() => { });
        life.Post(request);
        Assert.Throws<InvalidOperationException>(() => life.Post(request));
    }

    [Fact]
    public void A_post_from_another_thread_is_turned_away()
    {
        var life = _cluster.AddNode().Environment;
        Exception? caught = null;
        var thread = new Thread(() => caught = Record.Exception(() => life.Post(new ActionRequest(() => { }))));
        thread.Start();
        thread.Join();
        Assert.IsType<InvalidOperationException>(caught);
    }

    [Fact]
    public void A_failure_says_which_node_when_and_under_which_seed()
    {
        _cluster.AddNodes(2);
        var life = _cluster.Nodes[1].Environment;
        life.Schedule(new Alarm(() => throw new FormatException("bad frame")), Ms(12));
        var caught = Assert.Throws<SimulationException>(() => _cluster.Run(Ms(100)));
        Assert.IsType<FormatException>(caught.InnerException);
        Assert.StartsWith("Node 1 (life 1) failed at 00:00:00.0120000 in alarm ", caught.Message, StringComparison.Ordinal);
        Assert.EndsWith(" under seed 3: bad frame", caught.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stepped_wall_clock_leaves_monotonic_time_alone()
    {
        var node = _cluster.AddNode();
        _cluster.Run(TimeSpan.FromSeconds(5));
        var before = node.Environment.UtcNow;
        Assert.Equal(_cluster.Options.Epoch + TimeSpan.FromSeconds(5), before);
        node.ClockStep = TimeSpan.FromHours(-1);
        Assert.Equal(before - TimeSpan.FromHours(1), node.Environment.UtcNow);
        Assert.Equal(TimeSpan.FromSeconds(5), node.Environment.Now);
    }

    [Fact]
    public void Each_life_of_each_node_has_its_own_chance_and_the_seed_decides_it()
    {
        static ulong[] Draw(ulong seed)
        {
            var cluster = new SimulatedMachines(seed);
            cluster.AddNodes(2);
            var drawn = cluster.Nodes.Select(node => node.Environment.NextRandom()).ToList();
            cluster.Nodes[0].Crash();
            drawn.Add(cluster.Nodes[0].Restart().NextRandom());
            return [.. drawn];
        }

        Assert.Equal(Draw(5), Draw(5));
        Assert.Equal(6, Draw(5).Concat(Draw(6)).Distinct().Count());
    }

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
