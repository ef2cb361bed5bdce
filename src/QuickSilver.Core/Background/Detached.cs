namespace QuickSilver.Core.Background;

// The one place that starts work which outlives its caller: threads, timers, and work on the thread pool.
//
// Intuition: a node is often started, and a topic opened, by the code that needs it first, such as a web request. By default, the runtime
// gives all that such a caller starts its execution context: its AsyncLocal values, its Activity and its log scopes. A thread that lives
// as long as the node would have those of the first request in each handler and each log line, and would hold what they refer to.
// Application: what is started here begins in the default execution context.
// What goes wrong: the framework has flowing and other forms side by side, and the flowing one has the shorter name. A test of the
// architecture finds each use of a flowing form in the code of the product.
internal static class Detached
{
    /// <summary>Starts a background thread.</summary>
    public static void Start(Thread thread) => thread.UnsafeStart();

    /// <summary>
    /// Runs work that may wait for files or for name servers on a thread of its own, which ends with it. For work that is rare and that
    /// a node cannot do without: the thread pool may be full of handlers that block.
    /// </summary>
    /// <param name="name">Of the thread.</param>
    /// <param name="work">The work.</param>
    /// <param name="completer">Runs what completes the task, where its continuations are to run; null: on the thread of the work.</param>
    public static Task<T> RunOnThread<T>(string name, Func<T> work, Action<Action>? completer = null)
    {
        var done = new TaskCompletionSource<T>();
        Start(new Thread(() =>
        {
            Action complete;
            try
            {
                var result = work();
                complete = () => done.SetResult(result);
            }
            catch (Exception failure)
            {
                complete = () => done.SetException(failure);
            }

            (completer ?? (static action => action()))(complete);
        })
        {
            IsBackground = true,
            Name = name,
        });
        return done.Task;
    }

    /// <summary>Makes a timer that is not set yet.</summary>
    public static ITimer CreateTimer(TimeProvider time, TimerCallback callback, object state)
    {
        using (NoFlow())
        {
            return time.CreateTimer(callback, state, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Runs asynchronous work on the thread pool.</summary>
    public static Task Run(Func<Task> work)
    {
        using (NoFlow())
        {
            return Task.Run(work);
        }
    }

    /// <summary>Runs work on the thread pool.</summary>
    public static Task<T> Run<T>(Func<T> work)
    {
        using (NoFlow())
        {
            return Task.Run(work);
        }
    }

    /// <summary>
    /// Calls asynchronous work here, which continues in the default execution context after its first wait. Until then it must not call
    /// code of the application, which would be without its context too.
    /// </summary>
    public static Task Begin(Func<Task> work)
    {
        using (NoFlow())
        {
            return work();
        }
    }

    /// <summary>
    /// Continues after a task, on the thread that completes it. The continuation is taken back when the token is cancelled.
    /// </summary>
    public static Task Continue(Task task, Action action, CancellationToken takenBack)
    {
        using (NoFlow())
        {
            return task.ContinueWith(
                _ => action(), takenBack, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        }
    }

    // The caller may have suppressed the flow already, and restores it itself then.
    private static AsyncFlowControl? NoFlow() => ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
}
