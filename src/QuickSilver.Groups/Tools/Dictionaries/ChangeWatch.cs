using System.Runtime.CompilerServices;

namespace QuickSilver.Groups.Tools.Dictionaries;

// The changes that wait for one enumeration. The group does not wait for it: with too many, the enumeration fails. Any thread; tasks are
// completed outside the lock.
internal sealed class ChangeWatch<TChange>(string name, TaskCreationOptions completions, bool resumesInContext)
{
    public const int MostWaiting = 1 << 16;

    private readonly Lock _lock = new();
    private readonly Queue<TChange> _changes = new();
    private int _most = MostWaiting;
    private TaskCompletionSource? _wait;
    private Exception? _error;
    private bool _isEnded;

    /// <summary>Before anything else: what is there already, however much.</summary>
    public void Begin(IEnumerable<TChange> content)
    {
        foreach (var one in content)
        {
            _changes.Enqueue(one);
        }

        _most = _changes.Count + MostWaiting;
    }

    public void Add(TChange change)
    {
        TaskCompletionSource? wait;
        lock (_lock)
        {
            if (_isEnded)
            {
                return;
            }

            if (_changes.Count >= _most)
            {
                _changes.Clear();
                _isEnded = true;
                _error = new GroupFullException(
                    name, "changes that wait for an enumeration", MostWaiting, "Read faster, or begin again with the present content.");
            }
            else
            {
                _changes.Enqueue(change);
            }

            wait = TakeWait();
        }

        wait?.TrySetResult();
    }

    /// <summary>Nothing follows. The reader gets what waits, and then the error, if there is one.</summary>
    public void End(Exception? error)
    {
        TaskCompletionSource? wait;
        lock (_lock)
        {
            if (!_isEnded)
            {
                _isEnded = true;
                _error = error;
            }

            wait = TakeWait();
        }

        wait?.TrySetResult();
    }

    public async IAsyncEnumerable<TChange> ReadAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (true)
        {
            Task? wait = null;
            bool isTaken;
            TChange? change;
            lock (_lock)
            {
                isTaken = _changes.TryDequeue(out change);
                if (!isTaken && !_isEnded)
                {
                    wait = (_wait ??= new TaskCompletionSource(completions)).Task;
                }
            }

            cancellationToken.ThrowIfCancellationRequested();
            if (isTaken)
            {
                yield return change!;
            }
            else if (wait is not null)
            {
                await wait.WaitAsync(cancellationToken).ConfigureAwait(resumesInContext);
            }
            else
            {
                if (_error is not null)
                {
                    throw _error;
                }

                yield break;
            }
        }
    }

    private TaskCompletionSource? TakeWait()
    {
        var wait = _wait;
        _wait = null;
        return wait;
    }
}
