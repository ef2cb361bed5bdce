using QuickSilver.Core.Background;

namespace QuickSilver.Hosting;

// What a host opens on each of its nodes in turn, and what waits for it meanwhile. It may fail on a node and be opened on the next.
// Thread-safe.
internal sealed class HostedOpening<T>
    where T : class
{
    private readonly Lock _lock = new();
    private TaskCompletionSource<T> _opened = NewSource();
    private volatile T? _current;
    private volatile Exception? _fault;

    /// <summary>What is open; null while nothing is.</summary>
    public T? Current => _current;

    /// <summary>Why the last attempt failed; null if it did not.</summary>
    public Exception? Fault => _fault;

    /// <summary>Completes when it is open, or with the reason why it is not.</summary>
    public Task<T> Opened
    {
        get
        {
            lock (_lock)
            {
                return _opened.Task;
            }
        }
    }

    /// <param name="opened">What is open from now on.</param>
    /// <param name="attach">What is done with it before waiting calls continue. Calls that do not wait use it already.</param>
    public void Open(T opened, Action<T>? attach = null)
    {
        lock (_lock)
        {
            _fault = null;
            _current = opened;
            attach?.Invoke(opened);
            if (!_opened.TrySetResult(opened))
            {
                // An earlier attempt failed, and the calls that waited then have failed.
                _opened = NewSource();
                _opened.SetResult(opened);
            }
        }
    }

    public void Fail(Exception exception)
    {
        _fault = exception;
        Refuse(exception);
    }

    /// <summary>The node has ended. Later calls wait for the next.</summary>
    public void Lose()
    {
        lock (_lock)
        {
            _current = null;
            _fault = null;
            if (_opened.Task.IsCompleted)
            {
                _opened = NewSource();
            }
        }
    }

    /// <summary>The host has stopped: there is no next node.</summary>
    public void End(ObjectDisposedException stopped)
    {
        Lose();
        Refuse(stopped);
    }

    private static TaskCompletionSource<T> NewSource() => new(SoleThreadContext.Completions);

    private void Refuse(Exception exception)
    {
        lock (_lock)
        {
            _opened.TrySetException(exception);
            // It may be that nothing waits for it.
            _ = _opened.Task.Exception;
        }
    }
}
