using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Diagnostics;

public sealed class PoolWatchTests : IDisposable
{
    private const int Starved = 1028;
    private const int Recovered = 1029;

    private readonly TestEnvironment _environment = new(threaded: false) { HeldWork = [] };
    private readonly RecordingLogs _logs = new();
    private readonly PoolWatch _watch;

    public PoolWatchTests()
    {
        _watch = new PoolWatch(_environment, static () => (1234, 40), _logs.CreateLogger("QuickSilver.Core"));
        _watch.Begin();
    }

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_pool_that_starts_no_work_is_named_with_its_queue_once_and_forgotten_when_it_works()
    {
        Look(PoolWatch.LooksUntilStarved);
        var trouble = _watch.Trouble!;
        Assert.Equal((TroubleKind.ThreadPoolStarved, DateTimeOffset.UnixEpoch), (trouble.Kind, trouble.Since));
        Assert.Equal(
            "The thread pool of the process has started no work for 3 s: 1,234 work items wait for its 40 threads.", trouble.Description);
        Look(10);
        Assert.Contains("for 13 s", _watch.Trouble!.Description);
        Assert.Equal(1, Logged(Starved));
        Assert.Equal((1, 1), (_watch.Starvations, _environment.HeldWork!.Count));

        RunHeld();
        Look(1);
        Assert.Null(_watch.Trouble);
        Assert.Equal(1, Logged(Recovered));
        Look(PoolWatch.LooksUntilStarved);
        Assert.Equal((2, 2), (_watch.Starvations, Logged(Starved)));
    }

    [Fact]
    public void A_pool_that_is_slow_for_a_moment_is_not_named()
    {
        for (int i = 0; i < 10; i++)
        {
            Look(PoolWatch.LooksUntilStarved - 1);
            RunHeld();
            Look(1);
        }

        Assert.Equal((0, 0), (_watch.Starvations, Logged(Recovered)));
    }

    [Fact]
    public void A_process_that_was_stopped_is_not_taken_for_a_pool_that_starts_no_work()
    {
        _environment.Advance(TimeSpan.FromMinutes(10));
        Assert.Null(_watch.Trouble);
    }

    private void Look(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _environment.Advance(PoolWatch.Interval);
        }
    }

    private void RunHeld()
    {
        _environment.HeldWork!.ForEach(static work => work.Execute());
        _environment.HeldWork.Clear();
    }

    private int Logged(int id) => _logs.Entries.Count(entry => entry.Id == id);
}
