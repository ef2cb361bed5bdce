namespace QuickSilver.Groups.Tools.Replicas;

// What a tool needs of its node. Any thread.
internal interface IToolHost
{
    /// <summary>How tasks are completed for which callers wait.</summary>
    TaskCreationOptions Completions { get; }

    /// <summary>Whether awaits continue in the caller's context. Read again for each await.</summary>
    bool ResumesInContext { get; }

    /// <summary>
    /// Whether the membership service was heard within the time after which it removes a silent node, as far as is known.
    /// </summary>
    bool IsServiceHeard { get; }

    /// <summary>Whether the core thread of the node runs. False after a pause of the process, until it has run again.</summary>
    bool IsLive { get; }

    /// <summary>Called beside the core thread when <see cref="IsServiceHeard"/> changes.</summary>
    event Action? ServiceChanged;

    /// <summary>Runs code of the application on another thread, without the caller's execution context.</summary>
    void RunBeside(IThreadPoolWorkItem work);
}

internal static class ToolHosts
{
    /// <summary>Cancels a source, whose callbacks are code of the application.</summary>
    public static void Cancel(this IToolHost host, CancellationTokenSource source) => host.RunBeside(new Cancellation(source));

    public static void RunBeside(this IToolHost host, Action action) => host.RunBeside(new Work(action));

    private sealed class Cancellation(CancellationTokenSource source) : IThreadPoolWorkItem
    {
        public void Execute()
        {
            try
            {
                source.Cancel();
            }
            catch (AggregateException)
            {
                // What a callback throws is the application's. The other callbacks were called all the same.
            }
        }
    }

    private sealed class Work(Action action) : IThreadPoolWorkItem
    {
        public void Execute() => action();
    }
}
