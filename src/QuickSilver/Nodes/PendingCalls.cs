using QuickSilver.Composition;
using QuickSilver.Diagnostics;

namespace QuickSilver.Nodes;

// The calls that wait for a task which the core thread will complete; they also end with the core thread. From any thread.
internal sealed class PendingCalls(INodeParts parts)
{
    private readonly HashSet<TaskCompletionSource> _waiting = [];
    private bool _isOver;

    /// <summary>Waits for the task. Throws if the core thread ends.</summary>
    public async Task UntilEndedAsync(Task task, CancellationToken cancellationToken)
    {
        // A linked token is not used, because a registration with a token that lives as long as the node leaves its entry there after it
        // was removed. One task for all callers is not used either: thousands may wait, and each that leaves would have to search for its
        // continuation.
        var over = new TaskCompletionSource(parts.Completions);
        lock (_waiting)
        {
            if (_isOver)
            {
                over.SetResult();
            }
            else
            {
                _waiting.Add(over);
            }
        }

        try
        {
            var waiting = task.WaitAsync(cancellationToken);
            if (await Task.WhenAny(waiting, over.Task).ConfigureAwait(parts.ResumesInContext) != waiting)
            {
                throw AfterDispose.OfNode();
            }

            await waiting.ConfigureAwait(parts.ResumesInContext);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException(cancellationToken);
        }
        finally
        {
            lock (_waiting)
            {
                _waiting.Remove(over);
            }
        }
    }

    /// <summary>The core thread has ended.</summary>
    public void End()
    {
        TaskCompletionSource[] waiting;
        lock (_waiting)
        {
            _isOver = true;
            waiting = [.. _waiting];
        }

        foreach (var one in waiting)
        {
            one.TrySetResult();
        }
    }
}
