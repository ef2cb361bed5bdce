namespace QuickSilver.Microbenchmarks.Requests;

// Threads that stand ready and each produce their part of a batch on a signal, so that no thread's start is measured.
internal sealed class Producers : IDisposable
{
    private readonly Thread[] _threads;
    private readonly SemaphoreSlim[] _go;
    private Action<int>? _produce;

    public Producers(int count)
    {
        _go = Enumerable.Range(0, count).Select(_ => new SemaphoreSlim(0)).ToArray();
        _threads = Enumerable.Range(0, count).Select(i => new Thread(() => Run(i)) { IsBackground = true }).ToArray();
        foreach (var thread in _threads)
        {
            thread.Start();
        }
    }

    /// <summary>Lets each thread call <paramref name="produce"/> once with its number.</summary>
    public void Go(Action<int> produce)
    {
        _produce = produce;
        foreach (var go in _go)
        {
            go.Release();
        }
    }

    public void Dispose()
    {
        _produce = null;
        foreach (var go in _go)
        {
            go.Release();
        }

        foreach (var thread in _threads)
        {
            thread.Join();
        }
    }

    private void Run(int number)
    {
        for (_go[number].Wait(); _produce is { } produce; _go[number].Wait())
        {
            produce(number);
        }
    }
}
