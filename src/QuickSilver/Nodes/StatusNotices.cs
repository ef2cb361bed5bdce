using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;

namespace QuickSilver.Nodes;

// Notifies the application of changes of the node's status: beside the core thread, since a handler may wait, and in order.
//
// Invariant: while one notice is being delivered, or one waits, exactly one work item is on its way.
internal sealed class StatusNotices(INodeEnvironment environment, Func<NodeStatus> read, ILogger log) : IThreadPoolWorkItem
{
    private readonly Queue<NodeStatusChangedEventArgs> _waiting = [];
    private NodeStatus? _previous;
    private bool _isNotifying;

    public event EventHandler<NodeStatusChangedEventArgs>? Changed;

    /// <summary>What handlers get as the sender.</summary>
    public object? Sender { get; set; }

    /// <summary>Core thread: what may be a change follows.</summary>
    public void BeginChange() => _previous = Changed is null ? null : read();

    /// <summary>Core thread: it was a change.</summary>
    public void EndChange(NodeStatusChangeKind kind)
    {
        if (_previous is not { } previous)
        {
            return;
        }

        _previous = null;
        var notice = new NodeStatusChangedEventArgs(kind, previous, read());
        lock (_waiting)
        {
            _waiting.Enqueue(notice);
            if (_isNotifying)
            {
                return;
            }

            _isNotifying = true;
        }

        environment.RunBeside(this);
    }

    void IThreadPoolWorkItem.Execute()
    {
        while (TryTake(out var notice))
        {
            foreach (var handler in Delegate.EnumerateInvocationList(Changed))
            {
                try
                {
                    handler(Sender, notice);
                }
                catch (Exception exception)
                {
                    ApiLog.StatusHandlerThrew(log, exception);
                }
            }
        }
    }

    private bool TryTake([NotNullWhen(true)] out NodeStatusChangedEventArgs? notice)
    {
        lock (_waiting)
        {
            _isNotifying = _waiting.TryDequeue(out notice);
            return _isNotifying;
        }
    }
}
