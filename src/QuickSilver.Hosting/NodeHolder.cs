using QuickSilver.Core.Background;
using QuickSilver.Diagnostics;

namespace QuickSilver.Hosting;

// Where the host's node is found, once there is one. Thread-safe.
internal sealed class NodeHolder(TimeProvider time) : IQuickSilverNodeAccessor
{
    private readonly Lock _lock = new();
    private TaskCompletionSource<QuickSilverNode> _next = NewSource();
    private volatile string? _failure;
    private DateTimeOffset _since = time.GetUtcNow();

    /// <summary>Why the last attempt to start a node failed; null when it did not. From any thread.</summary>
    public string? Failure
    {
        get => _failure;
        set => _failure = value;
    }

    /// <summary>When the present node started, or, without one, since when there is none.</summary>
    public DateTimeOffset Since
    {
        get
        {
            lock (_lock)
            {
                return _since;
            }
        }
    }

    public QuickSilverNode? Current
    {
        get
        {
            lock (_lock)
            {
                return _next.Task.IsCompletedSuccessfully ? _next.Task.Result : null;
            }
        }
    }

    public Task<QuickSilverNode> GetAsync(CancellationToken cancellationToken = default)
    {
        lock (_lock)
        {
            return _next.Task.WaitAsync(cancellationToken);
        }
    }

    public void Set(QuickSilverNode node)
    {
        lock (_lock)
        {
            _since = time.GetUtcNow();
            _next.TrySetResult(node);
        }
    }

    /// <summary>The node has ended; later calls wait for the next.</summary>
    public void Clear()
    {
        lock (_lock)
        {
            if (_next.Task.IsCompletedSuccessfully)
            {
                _since = time.GetUtcNow();
                _next = NewSource();
            }
        }
    }

    /// <summary>There will be no other node.</summary>
    public void End()
    {
        Clear();
        lock (_lock)
        {
            _next.TrySetException(AfterDispose.OfHost(nameof(QuickSilverNode)));
            // It may be that nothing waits for it.
            _ = _next.Task.Exception;
        }
    }

    private static TaskCompletionSource<QuickSilverNode> NewSource() => new(SoleThreadContext.Completions);
}
