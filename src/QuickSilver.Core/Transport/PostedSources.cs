using System.Collections.Concurrent;

namespace QuickSilver.Core.Transport;

// Sources that have completions without the system's poller knowing of it: a disk, a socket whose call was decided at once.
//
// Liveness: a source is added before the wake that announces it. The poller takes the wake before it looks here.
internal sealed class PostedSources
{
    private readonly ConcurrentQueue<CompletionSource> _sources = new();
    private int _count;

    public bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>From any thread.</summary>
    public void Add(CompletionSource source)
    {
        _sources.Enqueue(source);
        Interlocked.Increment(ref _count);
    }

    public int Take(Span<CompletionSource> into)
    {
        int taken = 0;
        while (taken < into.Length && _sources.TryDequeue(out var source))
        {
            Interlocked.Decrement(ref _count);
            into[taken++] = source;
        }

        return taken;
    }
}
