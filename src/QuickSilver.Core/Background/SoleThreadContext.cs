namespace QuickSilver.Core.Background;

// The context of code that has one thread only, as in a simulation.
//
// Intuition: a library continues on the thread pool, because its caller may block the context in which it called. Where the context is the
// only thread there is, the thread pool is the wrong place: two runs would never be alike.
// Application: code that runs outside the core thread, and that a simulation runs too, asks here where to continue. The code of a node asks
// its node (ResumesInContext), which asks here only if it is simulated: for a real node the answer is a constant.
// What goes wrong: a source that completes its continuations asynchronously runs those that are no awaits, such as the ones of WaitAsync,
// on the thread pool, whatever the awaiting code says. So sources are made with Completions.
internal abstract class SoleThreadContext : SynchronizationContext
{
    /// <summary>Whether the caller runs in such a context, and its awaits must continue there.</summary>
    public static bool IsCurrent => Current is SoleThreadContext;

    /// <summary>With what a source is made whose continuations may be those of the caller.</summary>
    public static TaskCreationOptions Completions =>
        IsCurrent ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously;

    /// <summary>For an await that looks at no exception.</summary>
    public static ConfigureAwaitOptions SuppressThrowing => IsCurrent
        ? ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext
        : ConfigureAwaitOptions.SuppressThrowing;

    /// <summary>Cancels a source without running its callbacks on the calling thread, unless there is no other.</summary>
    public static Task CancelAsync(CancellationTokenSource source)
    {
        if (!IsCurrent)
        {
            return source.CancelAsync();
        }

        source.Cancel();
        return Task.CompletedTask;
    }
}
