using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Groups.Tools.Replicas;

// The operations of this node that wait for their answer: at most a number of them, behind which callers wait in line for a place. Any
// thread. Tasks are completed outside the lock.
//
// What ends each wait: the answer, the caller's token, the return of a member that was removed (FailAll), or the end of the group (End).
internal sealed class PendingOperations(TaskCreationOptions completions, int most)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<long, TaskCompletionSource<Outcome>> _pending = [];
    private readonly LinkedList<TaskCompletionSource> _line = [];
    private long _last;
    // Places that are taken, also by a caller that was given one and has not used it yet.
    private int _used;
    private Exception? _end;

    /// <summary>Takes a place and a number.</summary>
    /// <param name="answer">Completes with the answer.</param>
    /// <returns>The number; 0: there is no place.</returns>
    public long TryBegin(out Task<Outcome>? answer)
    {
        lock (_lock)
        {
            ThrowIfEnded();
            if (_used < most)
            {
                _used++;
                return Add(out answer);
            }

            answer = null;
            return 0;
        }
    }

    /// <summary>Joins the line. The task completes when this caller has a place, which <see cref="Use"/> uses.</summary>
    public LinkedListNode<TaskCompletionSource> JoinLine()
    {
        var room = new TaskCompletionSource(completions);
        LinkedListNode<TaskCompletionSource> node;
        bool hasPlace;
        lock (_lock)
        {
            ThrowIfEnded();
            node = _line.AddLast(room);
            hasPlace = _used < most;
            if (hasPlace)
            {
                _used++;
                _line.Remove(node);
            }
        }

        if (hasPlace)
        {
            room.SetResult();
        }

        return node;
    }

    /// <summary>Uses the place for which the caller has waited.</summary>
    public long Use(out Task<Outcome> answer)
    {
        lock (_lock)
        {
            ThrowIfEnded();
            return Add(out answer);
        }
    }

    /// <summary>Leaves the line. A place that was given already remains.</summary>
    public void LeaveLine(LinkedListNode<TaskCompletionSource> room, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            if (room.List is null)
            {
                return;
            }

            _line.Remove(room);
        }

        room.Value.TrySetCanceled(cancellationToken);
    }

    /// <summary>A number for an operation whose answer is not waited for.</summary>
    public long NextNumber()
    {
        lock (_lock)
        {
            return ++_last;
        }
    }

    public void Complete(in Outcome outcome)
    {
        if (TryRemove(outcome.Number, out var pending))
        {
            pending.TrySetResult(outcome);
        }
    }

    /// <summary>The caller waits no longer.</summary>
    public void Cancel(long number, CancellationToken cancellationToken)
    {
        if (TryRemove(number, out var pending))
        {
            pending.TrySetCanceled(cancellationToken);
        }
    }

    /// <summary>The operation was not sent.</summary>
    public void Drop(long number) => TryRemove(number, out _);

    /// <summary>Fails all operations that were begun until now, and gives the number of the last one.</summary>
    public long FailAll(Func<Exception> reason)
    {
        List<long> numbers;
        long last;
        lock (_lock)
        {
            numbers = [.. _pending.Keys];
            last = _last;
        }

        foreach (long number in numbers)
        {
            if (TryRemove(number, out var pending))
            {
                Fail(pending, reason());
            }
        }

        return last;
    }

    /// <summary>Nothing is answered any more: calls that wait fail, and later ones throw.</summary>
    public void End(Exception reason)
    {
        List<TaskCompletionSource<Outcome>> pending;
        List<TaskCompletionSource> line;
        lock (_lock)
        {
            _end ??= reason;
            pending = [.. _pending.Values];
            line = [.. _line];
            _pending.Clear();
            _line.Clear();
        }

        pending.ForEach(one => Fail(one, reason));
        foreach (var one in line)
        {
            one.TrySetException(reason);
            _ = one.Task.Exception;
        }
    }

    private long Add(out Task<Outcome> answer)
    {
        var pending = new TaskCompletionSource<Outcome>(completions);
        _pending.Add(++_last, pending);
        answer = pending.Task;
        return _last;
    }

    // Gives the place to the first in line.
    private bool TryRemove(long number, [NotNullWhen(true)] out TaskCompletionSource<Outcome>? pending)
    {
        TaskCompletionSource? next;
        lock (_lock)
        {
            if (!_pending.Remove(number, out pending))
            {
                return false;
            }

            next = _line.First?.Value;
            if (next is null)
            {
                _used--;
            }
            else
            {
                _line.RemoveFirst();
            }
        }

        next?.TrySetResult();
        return true;
    }

    // Observed: the caller may be gone.
    private static void Fail(TaskCompletionSource<Outcome> pending, Exception reason)
    {
        pending.TrySetException(reason);
        _ = pending.Task.Exception;
    }

    private void ThrowIfEnded()
    {
        if (_end is not null)
        {
            throw _end;
        }
    }
}
