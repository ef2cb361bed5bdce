using Microsoft.Extensions.Logging;
using QuickSilver.Core.Background;
using QuickSilver.Diagnostics;

namespace QuickSilver.Hosting.Patterns;

// What a host opens on its node and injects before the node has joined: a requester, a responder or a state. It outlives an expelled node
// and is opened on the next one. Calls wait while it is not open.
internal abstract class HostedPart<T>(string name) : IHostedTopic
    where T : class, IAsyncDisposable
{
    private readonly HostedOpening<T> _opening = new();

    public string Name => name;

    public bool IsOpen => _opening.Current is not null;

    public virtual bool IsForConsumer => false;

    public Exception? Fault => _opening.Fault;

    public virtual (DateTimeOffset Since, string InWords)? ConsumerFault => null;

    protected T? Current => _opening.Current;

    /// <summary>The clock of the host.</summary>
    protected TimeProvider Time { get; private set; } = TimeProvider.System;

    protected Task<T> Opened => _opening.Opened;

    public void OnHostStarted(ILogger log, TimeProvider time) => Time = time;

    public async Task OpenAsync(QuickSilverNode node, CancellationToken cancellationToken)
    {
        try
        {
            var part = await OpenOnAsync(node, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            _opening.Open(part);
            OnOpened(part);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            _opening.Fail(exception);
            throw;
        }
    }

    public virtual void OnNodeLost() => _opening.Lose();

    public virtual Task<int> StopConsumersAsync(CancellationToken cancellationToken) => Task.FromResult(0);

    public virtual Task<int> StopReadersAsync(CancellationToken cancellationToken) => Task.FromResult(0);

    public void OnHostStopped(ILogger log) => _opening.End(AfterDispose.OfHost($"\"{name}\""));

    protected abstract Task<T> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken);

    protected virtual void OnOpened(T part)
    {
    }
}
