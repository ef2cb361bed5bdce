using Microsoft.Extensions.DependencyInjection;
using QuickSilver.Core.Background;

namespace QuickSilver.Hosting.Consumption;

// Resolves a consumer from its scope, for each call or for all.
internal sealed class ScopedConsumer<T, TConsumer>(IServiceScopeFactory scopes, ConsumerScope scope, ConsumerOptions<T> options)
    : IAsyncDisposable
    where TConsumer : class, IConsumer<T>
{
    // Created at the first call, so that a consumer that cannot be resolved fails on a message, where the error policy decides.
    private readonly Lazy<(AsyncServiceScope Scope, TConsumer Consumer)> _shared = new(() => Create(scopes));

    /// <summary>The options with the callbacks of the consumer. Those of the application's options are called first.</summary>
    public ConsumerOptions<T> Options => options.Copy(own =>
    {
        own.OnDeadLetter = OnDeadLetterAsync;
        own.OnGap = gap =>
        {
            options.OnGap?.Invoke(gap);
            Call(consumer => consumer.OnGap(gap));
        };
        own.OnEnded = end =>
        {
            options.OnEnded?.Invoke(end);
            Call(consumer => consumer.OnEnded(end));
        };
    });

    public async ValueTask ConsumeAsync(Message<T> message, CancellationToken cancellationToken)
    {
        if (scope == ConsumerScope.Consumer)
        {
            await _shared.Value.Consumer.ConsumeAsync(message, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            return;
        }

        var (own, consumer) = Create(scopes);
        await using (own.ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            await consumer.ConsumeAsync(message, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    public ValueTask DisposeAsync() => _shared.IsValueCreated ? _shared.Value.Scope.DisposeAsync() : ValueTask.CompletedTask;

    private static (AsyncServiceScope Scope, TConsumer Consumer) Create(IServiceScopeFactory scopes)
    {
        var scope = scopes.CreateAsyncScope();
        try
        {
            return (scope, scope.ServiceProvider.GetRequiredService<TConsumer>());
        }
        catch
        {
            scope.Dispose();
            throw;
        }
    }

    private async ValueTask OnDeadLetterAsync(DeadLetter<T> letter, CancellationToken cancellationToken)
    {
        if (options.OnDeadLetter is { } onDeadLetter)
        {
            await onDeadLetter(letter, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        if (scope == ConsumerScope.Consumer)
        {
            await _shared.Value.Consumer.OnDeadLetterAsync(letter, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            return;
        }

        var (own, consumer) = Create(scopes);
        await using (own.ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            await consumer.OnDeadLetterAsync(letter, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    private void Call(Action<TConsumer> action)
    {
        if (scope == ConsumerScope.Consumer)
        {
            action(_shared.Value.Consumer);
            return;
        }

        var (own, consumer) = Create(scopes);
        using (own)
        {
            action(consumer);
        }
    }
}
