using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Background;

namespace QuickSilver.Hosting.Patterns;

// A state that is injected. It is empty until it is first open. Between an expelled node and the next one, it has what the last one had.
internal sealed class HostedState<TKey, TValue>(string name, StateOptions options)
    : HostedPart<IState<TKey, TValue>>(name), IState<TKey, TValue>, IDisposable
    where TKey : notnull
{
    private volatile IState<TKey, TValue>? _last;

    public int Count => _last?.Count ?? 0;

    public bool IsComplete => Current?.IsComplete ?? false;

    public bool TryGet(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (_last is { } last)
        {
            return last.TryGet(key, out value);
        }

        value = default;
        return false;
    }

    public IReadOnlyList<KeyValuePair<TKey, TValue>> GetSnapshot() => _last?.GetSnapshot() ?? [];

    public ValueTask SetAsync(TKey key, TValue value, CancellationToken cancellationToken = default) => Current is { } state
        ? state.SetAsync(key, value, cancellationToken)
        : SetWhenOpenAsync(key, value, cancellationToken);

    public async ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default)
    {
        var state = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        return await state.RemoveAsync(key, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }

    // Like a reader, it ends with the node.
    public async IAsyncEnumerable<StateChange<TKey, TValue>> WatchChangesAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var state = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await foreach (var change in state.WatchChangesAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            yield return change;
        }
    }

    // The host owns it: a service into which it is injected does not end it for the others.
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    public void Dispose()
    {
    }

    protected override Task<IState<TKey, TValue>> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken) =>
        node.OpenStateAsync<TKey, TValue>(Name, options, cancellationToken);

    protected override void OnOpened(IState<TKey, TValue> part) => _last = part;

    private async ValueTask SetWhenOpenAsync(TKey key, TValue value, CancellationToken cancellationToken)
    {
        var state = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await state.SetAsync(key, value, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }
}
