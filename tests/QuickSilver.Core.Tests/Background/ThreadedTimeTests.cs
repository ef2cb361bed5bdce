using System.Collections.Concurrent;
using QuickSilver.Core.Background;

namespace QuickSilver.Core.Tests.Background;

public sealed class ThreadedTimeTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);

    [Fact]
    public void A_timer_fires_once_each_time_that_it_is_set_and_never_on_the_thread_pool()
    {
        using var fired = new BlockingCollection<Thread>();
        using var timer = Detached.CreateTimer(ThreadedTime.Instance, _ => fired.Add(Thread.CurrentThread), new object());
        Assert.True(timer.Change(Soon, Timeout.InfiniteTimeSpan));
        Assert.True(fired.TryTake(out var first, Limit));
        Assert.False(fired.TryTake(out _, Soon * 10));
        Assert.True(timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan));
        Assert.True(fired.TryTake(out var second, Limit));
        Assert.Same(first, second);
        Assert.False(first!.IsThreadPoolThread);
    }

    [Fact]
    public void A_timer_that_is_set_for_later_or_not_at_all_does_not_fire_at_its_first_time()
    {
        using var fired = new BlockingCollection<int>();
        int set = 0;
        using var timer = Detached.CreateTimer(ThreadedTime.Instance, _ => fired.Add(set), new object());
        timer.Change(TimeSpan.FromDays(1), Timeout.InfiniteTimeSpan);
        timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        set = 1;
        timer.Change(Soon, Timeout.InfiniteTimeSpan);
        Assert.True(fired.TryTake(out int seen, Limit));
        Assert.Equal(1, seen);
        Assert.Throws<NotSupportedException>(() => timer.Change(Soon, Soon));
    }

    [Fact]
    public void A_timer_that_was_disposed_of_ends_its_thread()
    {
        using var fired = new BlockingCollection<Thread>();
        var timer = Detached.CreateTimer(ThreadedTime.Instance, _ => fired.Add(Thread.CurrentThread), new object());
        timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        Assert.True(fired.TryTake(out var thread, Limit));
        timer.Dispose();
        Assert.True(thread!.Join(Limit));
        Assert.False(timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan));
        timer.Dispose();
    }

    [Fact]
    public void A_callback_may_set_and_end_its_own_timer()
    {
        using var ended = new ManualResetEventSlim();
        int calls = 0;
        ITimer? timer = null;
        timer = Detached.CreateTimer(
            ThreadedTime.Instance,
            _ =>
            {
                if (++calls < 3)
                {
                    timer!.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan);
                }
                else
                {
                    timer!.Dispose();
                    ended.Set();
                }
            },
            new object());
        timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        Assert.True(ended.Wait(Limit));
        Assert.Equal(3, calls);
    }
}
