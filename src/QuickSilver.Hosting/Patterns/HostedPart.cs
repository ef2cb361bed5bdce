using Microsoft.Extensions.Logging;

namespace QuickSilver.Hosting.Patterns;

// What a host opens on its node and injects before the node has joined: a requester, a responder or a state. It outlives an expelled node
// and is opened on the next one. Calls wait while it is not open.
internal abstract class HostedPart<T>(string name) : IHostedTopic
    where T : class, IAsyncDisposable
{
    private readonly Lock _lock = new();
    private TaskCompletionSource<T> _opened = NewSource();
    private volatile T? _current;
    private volatile Exception? _fault;

    public string Name => name;

    public bool IsOpen => _current is not null;

    public Exception? Fault => _fault;

    public virtual (DateTimeOffset Since, string InWords)? ConsumerFault => null;

    protected T? Current => _current;

    /// <summary>The clock of the host.</summary>
    protected TimeProvider Time { get; private set; } = TimeProvider.System;

    protected Task<T> Opened
    {
        get
        {
            lock (_lock)
            {
                return _opened.Task;
            }
        }
    }

    public void OnHostStarted(ILogger log, TimeProvider time) => Time = time;

    public async Task OpenAsync(QuickSilverNode node, CancellationToken cancellationToken)
    {
        try
        {
            var part = await OpenOnAsync(node, cancellationToken).ConfigureAwait(false);
            lock (_lock)
            {
                _fault = null;
                _current = part;
                if (!_opened.TrySetResult(part))
                {
                    // An earlier attempt failed, and who waited then was told so.
                    _opened = NewSource();
                    _opened.SetResult(part);
                }
            }

            OnOpened(part);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            _fault = exception;
            Fail(exception);
            throw;
        }
    }

    public void OnNodeLost()
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

    public virtual Task<int> StopConsumersAsync(CancellationToken cancellationToken) => Task.FromResult(0);

    public void OnHostStopped(ILogger log)
    {
        OnNodeLost();
        Fail(new ObjectDisposedException($"\"{name}\"", "The host has stopped."));
    }

    protected abstract Task<T> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken);

    protected virtual void OnOpened(T part)
    {
    }

    private static TaskCompletionSource<T> NewSource() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private void Fail(Exception exception)
    {
        lock (_lock)
        {
            _opened.TrySetException(exception);
            // It may be that nobody waits for it.
            _ = _opened.Task.Exception;
        }
    }
}
