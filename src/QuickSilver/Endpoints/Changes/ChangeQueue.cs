using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Endpoints.Changes;

// Changes that wait for one reader: at most one for each key, the latest. So a reader that does not read costs as much memory as there are
// keys, whatever happens meanwhile, and never misses the last change of a key.
//
// A lock guards it although the core thread takes it too, as in ReaderRing: it is held for some tens of nanoseconds, and no other code is
// called under it.
internal sealed class ChangeQueue<TKey, TChange>(TaskCreationOptions completions)
    where TKey : notnull
{
    private readonly Lock _lock = new();
    private readonly LinkedList<(TKey Key, TChange Change)> _changes = [];
    private readonly Dictionary<TKey, LinkedListNode<(TKey Key, TChange Change)>> _byKey = [];
    private TaskCompletionSource? _wait;
    private Exception? _error;
    private bool _isEnded;

    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _changes.Count;
            }
        }
    }

    /// <summary>Any thread: replaces the change of this key that waits, in its place, or adds the change at the end.</summary>
    public void Put(TKey key, TChange change)
    {
        TaskCompletionSource? wait;
        lock (_lock)
        {
            if (_isEnded)
            {
                return;
            }

            if (_byKey.TryGetValue(key, out var known))
            {
                known.Value = (key, change);
                return;
            }

            _byKey.Add(key, _changes.AddLast((key, change)));
            wait = TakeWait();
        }

        wait?.TrySetResult();
    }

    /// <summary>Any thread: withdraws the change of this key, if it still waits.</summary>
    public bool TryWithdraw(TKey key)
    {
        lock (_lock)
        {
            if (!_byKey.Remove(key, out var known))
            {
                return false;
            }

            _changes.Remove(known);
            return true;
        }
    }

    /// <summary>Any thread: nothing follows. The reader gets what waits, and then the error, if there is one.</summary>
    public void End(Exception? error)
    {
        TaskCompletionSource? wait;
        lock (_lock)
        {
            if (_isEnded)
            {
                return;
            }

            _isEnded = true;
            _error = error;
            wait = TakeWait();
        }

        wait?.TrySetResult();
    }

    /// <summary>
    /// The reader: takes the first change. If there is none, <paramref name="wait"/> completes when there may be one; it is null at the
    /// end. Throws the error of the end.
    /// </summary>
    public bool TryTake([MaybeNullWhen(false)] out TChange change, out Task? wait)
    {
        lock (_lock)
        {
            if (_changes.First is { } first)
            {
                _changes.RemoveFirst();
                _byKey.Remove(first.Value.Key);
                change = first.Value.Change;
                wait = null;
                return true;
            }

            change = default;
            if (!_isEnded)
            {
                wait = (_wait ??= new TaskCompletionSource(completions)).Task;
                return false;
            }
        }

        wait = null;
        return _error is null ? false : throw _error;
    }

    private TaskCompletionSource? TakeWait()
    {
        var wait = _wait;
        _wait = null;
        return wait;
    }
}
