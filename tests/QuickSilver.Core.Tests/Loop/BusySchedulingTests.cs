using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Loop;

namespace QuickSilver.Core.Tests.Loop;

public sealed class BusySchedulingTests
{
    private readonly List<bool> _set = [];
    private readonly BusyScheduling _scheduling;
    private TimeSpan _now;

    public BusySchedulingTests() => _scheduling = new BusyScheduling(isBatch =>
    {
        _set.Add(isBatch);
        return true;
    });

    [Fact]
    public void A_thread_with_little_to_do_is_left_as_it_is()
    {
        PassWindows(100, busyShare: 0.1);
        Assert.Empty(_set);
    }

    [Fact]
    public void A_busy_thread_waits_its_turn_and_is_asked_for_once()
    {
        PassWindows(100, busyShare: 0.5);
        Assert.Equal([true], _set);
    }

    [Fact]
    public void It_has_the_processor_at_once_again_when_there_is_little_to_do()
    {
        PassWindows(3, busyShare: 0.5);
        PassWindows(3, busyShare: 0.01);
        Assert.Equal([true, false], _set);
    }

    [Fact]
    public void Between_the_limits_nothing_changes()
    {
        PassWindows(3, busyShare: 0.1);
        PassWindows(3, busyShare: 0.2);
        PassWindows(3, busyShare: 0.1);
        Assert.Equal([true], _set);
    }

    [Fact]
    public void A_long_sleep_is_one_window()
    {
        PassWindows(3, busyShare: 0.5);
        _scheduling.Slept(TimeSpan.FromSeconds(10));
        _scheduling.Look(_now += TimeSpan.FromSeconds(10));
        Assert.Equal([true, false], _set);
    }

    [Fact]
    public void A_system_that_refuses_is_asked_once()
    {
        int asked = 0;
        var refused = new BusyScheduling(_ =>
        {
            asked++;
            return false;
        });
        for (int i = 1; i <= 100; i++)
        {
            refused.Slept(i % 2 == 0 ? BusyScheduling.Window : TimeSpan.Zero);
            refused.Look(i * BusyScheduling.Window);
        }

        Assert.Equal(1, asked);
    }

    [Fact]
    public void The_requested_policy_always_differs_from_the_current_one()
    {
        Prop.ForAll(ArbMap.Default.ArbFor<byte[]>(), busyPercents =>
        {
            var asked = new List<bool>();
            var scheduling = new BusyScheduling(isBatch =>
            {
                asked.Add(isBatch);
                return true;
            });
            for (int i = 0; i < busyPercents.Length; i++)
            {
                scheduling.Slept(BusyScheduling.Window * (busyPercents[i] % 101 / 100.0));
                scheduling.Look((i + 1) * BusyScheduling.Window);
            }

            return asked.Select((isBatch, i) => isBatch == (i % 2 == 0)).All(alternates => alternates);
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Linux_lets_a_thread_wait_its_turn_and_go_back()
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        // A thread of its own, as the pool's threads continue with other tests.
        var policies = new List<string>();
        var thread = new Thread(() =>
        {
            var scheduling = BusyScheduling.ForThisSystem();
            scheduling.Look(BusyScheduling.Window);
            policies.Add(Policy());
            scheduling.Slept(BusyScheduling.Window);
            scheduling.Look(2 * BusyScheduling.Window);
            policies.Add(Policy());
        });
        thread.Start();
        thread.Join();
        Assert.Equal(["3", "0"], policies);
    }

    // The 41st field of the thread's line; the second may hold blanks, but ends with the last parenthesis.
    private static string Policy()
    {
        string line = File.ReadAllText("/proc/thread-self/stat");
        return line[(line.LastIndexOf(')') + 2)..].Split(' ')[38];
    }

    private void PassWindows(int count, double busyShare)
    {
        for (int i = 0; i < count; i++)
        {
            _now += BusyScheduling.Window;
            _scheduling.Slept(BusyScheduling.Window * (1 - busyShare));
            _scheduling.Look(_now);
        }
    }
}
