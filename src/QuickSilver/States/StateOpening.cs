using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;

namespace QuickSilver.States;

// The states that are open on a node, each once: a second one of the same name would get no changes of the first.
internal sealed class StateOpening(QuickSilverNode node, IEndpointNode core, Inbox inbox)
{
    // What comes between the first view and the handler.
    private const int EarlyMessages = 1 << 16;

    private readonly Lock _lock = new();
    private readonly HashSet<string> _open = new(StringComparer.Ordinal);

    public static void CheckKey<TKey>()
    {
        if (typeof(TKey).IsArray || typeof(TKey) == typeof(ReadOnlyMemory<byte>))
        {
            throw new NotSupportedException($"{typeof(TKey)} cannot be a key: equal contents are not equal keys. Use string or a record.");
        }
    }

    public async Task<IState<TKey, TValue>> OpenAsync<TKey, TValue>(
        string name,
        IPayloadCodec<TKey> keys,
        IPayloadCodec<TValue> values,
        StateOptions options,
        CancellationToken cancellationToken)
        where TKey : notnull
    {
        lock (_lock)
        {
            if (!_open.Add(name))
            {
                throw new InvalidOperationException($"The state \"{name}\" is already open on this node. Use that one.");
            }
        }

        ReplicatedState<TKey, TValue>? state = null;
        try
        {
            await inbox.OpenAsync(node.Id, cancellationToken).ConfigureAwait(core.ResumesInContext);
            var bytes = new StateEntryBytes<TKey, TValue>(keys, values);
            var schema = JoinedSchema.Of(ContractDescription.StateKind, ("key", keys.Schema), ("value", values.Schema));
            var codec = new StateCodec<TKey, TValue>(bytes, schema);
            var topic = new TopicOptions { ReceiveOwnMessages = false, ReaderCapacity = EarlyMessages };
            var endpoint = await node.OpenEndpointAsync(name, TopicAccess.PublishAndSubscribe, topic, codec, cancellationToken)
                .ConfigureAwait(core.ResumesInContext);
            state = new ReplicatedState<TKey, TValue>(endpoint, node.Id, inbox, bytes, options.MaxKeys, () => Forget(name));
            state.Begin();
            await core.UntilEndedAsync(state.Opened, cancellationToken).ConfigureAwait(core.ResumesInContext);
            return state;
        }
        catch (Exception exception)
        {
            string? missing = state?.Missing;
            if (state is not null)
            {
                await state.DisposeAsync().ConfigureAwait(core.ResumesInContext);
            }

            Forget(name);
            if (missing is not null && exception is OperationCanceledException && cancellationToken.IsCancellationRequested)
            {
                throw new OperationCanceledException(
                    $"The opening of state \"{name}\" was cancelled. {missing}", exception, cancellationToken);
            }

            throw;
        }
    }

    private void Forget(string name)
    {
        lock (_lock)
        {
            _open.Remove(name);
        }
    }
}
