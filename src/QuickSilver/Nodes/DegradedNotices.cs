using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;

namespace QuickSilver.Nodes;

// Notifies the application when the node is degraded and when that ends: beside the core thread, since a handler may wait, and in order.
//
// Invariant: while one notice is being delivered, or one waits, exactly one work item is on its way.
internal sealed class DegradedNotices(INodeEnvironment environment, ILogger log) : IThreadPoolWorkItem
{
    private readonly Queue<StatusReason?> _waiting = [];
    private bool _isTelling;

    public event Action<StatusReason?>? Changed;

    /// <summary>Core thread.</summary>
    /// <param name="reason">Null: the node is no longer degraded.</param>
    public void Tell(StatusReason? reason)
    {
        if (Changed is null)
        {
            return;
        }

        lock (_waiting)
        {
            _waiting.Enqueue(reason);
            if (_isTelling)
            {
                return;
            }

            _isTelling = true;
        }

        environment.RunBeside(this);
    }

    void IThreadPoolWorkItem.Execute()
    {
        while (TryTake(out var reason))
        {
            foreach (var handler in Delegate.EnumerateInvocationList(Changed))
            {
                try
                {
                    handler(reason);
                }
                catch (Exception exception)
                {
                    ApiLog.DegradedHandlerThrew(log, exception);
                }
            }
        }
    }

    private bool TryTake(out StatusReason? reason)
    {
        lock (_waiting)
        {
            _isTelling = _waiting.TryDequeue(out reason);
            return _isTelling;
        }
    }
}
