using Microsoft.Extensions.DependencyInjection;
using QuickSilver.Core.Background;

namespace QuickSilver.Hosting.Patterns;

// The responder of a host, whose handler is a service. It is opened on each node in turn.
internal sealed class HostedResponder<TRequest, TReply, THandler>(
    string name, ResponderOptions options, ConsumerScope scope, IServiceScopeFactory scopes)
    : HostedPart<IResponder>(name), IAsyncDisposable, IDisposable
    where THandler : class, IRequestHandler<TRequest, TReply>
{
    // Created at the first request, so that a handler that cannot be resolved fails on a request, whose requester gets the failure.
    private readonly Lazy<AsyncServiceScope> _shared = new(scopes.CreateAsyncScope);
    private volatile Ended? _ended;

    public override bool IsForConsumer => true;

    public override (DateTimeOffset Since, string InWords)? ConsumerFault => IsOpen && _ended is { } ended
        ? (ended.At, $"The responder {typeof(THandler)} of \"{Name}\" has stopped: {ended.Error.Message}")
        : null;

    // It takes no more requests, and gives its handlers a second: requesters then know that it has left.
    public override async Task<int> StopConsumersAsync(CancellationToken cancellationToken)
    {
        if (Current is { } responder)
        {
            await responder.DisposeAsync().ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        return 0;
    }

    public ValueTask DisposeAsync() => _shared.IsValueCreated ? _shared.Value.DisposeAsync() : ValueTask.CompletedTask;

    // For a container that is not disposed asynchronously.
    public void Dispose()
    {
        if (_shared.IsValueCreated)
        {
            _shared.Value.Dispose();
        }
    }

    protected override Task<IResponder> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken) =>
        node.OpenResponderAsync<TRequest, TReply>(Name, HandleAsync, options, cancellationToken);

    protected override void OnOpened(IResponder part)
    {
        _ended = null;
        _ = Detached.Begin(() => WatchAsync(part));
    }

    private async Task WatchAsync(IResponder responder)
    {
        var end = await responder.Completion.ConfigureAwait(SoleThreadContext.IsCurrent);
        if (ReferenceEquals(Current, responder) && end.Error is { } error)
        {
            _ended = new Ended(Time.GetUtcNow(), error);
        }
    }

    private async ValueTask<TReply> HandleAsync(Message<TRequest> request, CancellationToken cancellationToken)
    {
        if (scope == ConsumerScope.Consumer)
        {
            var shared = _shared.Value.ServiceProvider.GetRequiredService<THandler>();
            return await shared.HandleAsync(request, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        var own = scopes.CreateAsyncScope();
        await using (own.ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            var handler = own.ServiceProvider.GetRequiredService<THandler>();
            return await handler.HandleAsync(request, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    private sealed record Ended(DateTimeOffset At, Exception Error);
}
