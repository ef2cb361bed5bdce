using QuickSilver.Core.Environment;

namespace QuickSilver.Core.Tests.Completions;

// A node, for tests of what its core thread is given.
internal abstract class CompletionHouse : IDisposable
{
    // Little, so that a test can use it up.
    public const int BufferBytes = 1 << 20;

    public abstract INodeEnvironment Environment { get; }

    /// <summary>Does something on the core thread. What it throws is thrown here.</summary>
    public abstract T Do<T>(Func<T> work);

    /// <summary>Lets the node work until a condition, looked at on the core thread, holds.</summary>
    public abstract void Until(Func<bool> condition, string what);

    /// <summary>Gives what must not come a moment to come wrongly.</summary>
    public abstract void Pass();

    public abstract void Dispose();

    public void Do(Action work) => Do(() =>
    {
        work();
        return true;
    });
}
