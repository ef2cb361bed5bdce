using System.Diagnostics;

namespace QuickSilver.Simulation.Machines;

// Finds code under simulation that continues in the thread pool, where no two runs are alike: what is started within a run
// carries a mark with its execution context, and the runtime reports when a thread takes up a context with that mark.
internal sealed class EscapeWatch
{
    private readonly AsyncLocal<bool> _mark;
    private readonly ManualResetEventSlim _found = new();
    private volatile int _threadId;
    private volatile bool _hasEscaped;
    private volatile string? _where;

    public EscapeWatch()
    {
        _mark = new AsyncLocal<bool>(change =>
        {
            if (change.CurrentValue && Environment.CurrentManagedThreadId != _threadId)
            {
                _where ??= AsyncMethodOf(new StackTrace());
                Note();
            }
        });
    }

    public bool HasEscaped => _hasEscaped;

    /// <summary>The asynchronous method that continued in the thread pool; null: it is not known.</summary>
    public string? Where => _where;

    /// <summary>The calling thread runs the simulation from here to Leave.</summary>
    public void Enter()
    {
        _threadId = Environment.CurrentManagedThreadId;
        _mark.Value = true;
    }

    public void Leave() => _mark.Value = false;

    /// <summary>From any thread: found otherwise.</summary>
    public void Note()
    {
        _hasEscaped = true;
        _found.Set();
    }

    /// <summary>
    /// Gives work in the thread pool so much real time. A minute of virtual time may have passed in less time than a thread of the pool
    /// needs to begin.
    /// </summary>
    public bool WaitForEscape(TimeSpan limit) => _found.Wait(limit);

    // The frame that resumes an asynchronous method is generic in the type that the compiler made of it.
    private static string? AsyncMethodOf(StackTrace stack)
    {
        var resumed = stack.GetFrames().Select(static frame => frame.GetMethod()?.DeclaringType).FirstOrDefault(static type =>
            type is { IsGenericType: true } && type.Name.StartsWith("AsyncStateMachineBox", StringComparison.Ordinal));
        return resumed?.GetGenericArguments()[^1].ToString().Replace('+', '.');
    }
}
