using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.Dictionaries;

// A dictionary at one member: the replicated bytes, and what this node reads of them.
internal sealed class ReplicatedDictionary<TKey, TValue> : GroupTool<DictionaryMachine>, IReplicatedDictionary<TKey, TValue>
    where TKey : notnull
{
    private readonly IPayloadCodec<TKey> _keys;
    private readonly IPayloadCodec<TValue> _values;
    private readonly int _maxKeys;
    private readonly GroupOrder _order;
    private readonly DictionaryView<TKey, TValue> _view;

    public ReplicatedDictionary(
        string name,
        NodeId self,
        IToolHost host,
        (IPayloadCodec<TKey> Keys, IPayloadCodec<TValue> Values) codecs,
        int maxKeys,
        GroupOrder order)
        : base(name, self, new DictionaryMachine(), host)
    {
        (_keys, _values) = codecs;
        _maxKeys = maxKeys;
        _order = order;
        _view = new DictionaryView<TKey, TValue>(name, _keys, _values, host.Completions);
    }

    public int Count => _view.Count;

    public int Unreadable => _view.Unreadable;

    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value) => TryGetValue(key, out value, out _);

    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value, out long version)
    {
        Check(key);
        int bytes = _keys.GetSize(key);
        Span<byte> encoded = bytes <= 256 ? stackalloc byte[bytes] : new byte[bytes];
        return _view.TryGet(encoded[.._keys.Write(key, encoded)], out value, out version);
    }

    public IReadOnlyList<DictionaryItem<TKey, TValue>> GetSnapshot() => _view.GetSnapshot();

    public async ValueTask<long> SetAsync(TKey key, TValue value, CancellationToken cancellationToken = default) =>
        await ChangeAsync(Put(DictionaryMachine.Set, key, value), cancellationToken).ConfigureAwait(Host.ResumesInContext);

    public async ValueTask<bool> TryAddAsync(TKey key, TValue value, CancellationToken cancellationToken = default) =>
        await ChangeAsync(Put(DictionaryMachine.Add, key, value), cancellationToken).ConfigureAwait(Host.ResumesInContext) > 0;

    public async ValueTask<bool> TryUpdateAsync(
        TKey key, TValue value, long version, CancellationToken cancellationToken = default)
    {
        CheckBoth(key, value);
        byte[] message = DictionaryMachine.UpdateOf(
            version, _keys.GetSize(key), _values.GetSize(value), out var keyRoom, out var valueRoom);
        _keys.Write(key, keyRoom);
        _values.Write(value, valueRoom);
        return await ChangeAsync(message, cancellationToken).ConfigureAwait(Host.ResumesInContext) > 0;
    }

    public async ValueTask<bool> RemoveAsync(TKey key, CancellationToken cancellationToken = default)
    {
        Check(key);
        byte[] message = DictionaryMachine.RemoveOf(_keys.GetSize(key), out var room);
        _keys.Write(key, room);
        return await ChangeAsync(message, cancellationToken).ConfigureAwait(Host.ResumesInContext) > 0;
    }

    public async ValueTask SynchronizeAsync(CancellationToken cancellationToken = default) =>
        await ChangeAsync(Operation.Create(DictionaryMachine.Synchronize, bodyBytes: 0), cancellationToken)
            .ConfigureAwait(Host.ResumesInContext);

    public IAsyncEnumerable<DictionaryChange<TKey, TValue>> WatchChangesAsync(CancellationToken cancellationToken = default) =>
        ReadAsync(_view.Watch(Host.ResumesInContext), cancellationToken);

    public override void OnChanged()
    {
        List<EntryChange> changes;
        KeyValuePair<byte[], Entry>[]? entries = null;
        long version;
        lock (Replica.Guard)
        {
            changes = State.TakeChanges(out bool isRead);
            version = State.LastVersion;
            if (isRead)
            {
                entries = [.. State.Entries];
            }
        }

        if (entries is not null)
        {
            _view.Replace(entries, version);
            return;
        }

        foreach (var change in changes)
        {
            _view.Apply(change);
        }
    }

    public override void OnReplaced()
    {
    }

    public override void OnEnded(Exception reason) => _view.End(reason);

    private static void Check(TKey key)
    {
        if (key is null)
        {
            throw new ArgumentNullException(nameof(key));
        }
    }

    private static void CheckBoth(TKey key, TValue value)
    {
        Check(key);
        if (value is null)
        {
            throw new ArgumentNullException(nameof(value));
        }
    }

    private byte[] Put(byte kind, TKey key, TValue value)
    {
        CheckBoth(key, value);
        byte[] message = DictionaryMachine.SetOf(
            kind, _maxKeys, _keys.GetSize(key), _values.GetSize(value), out var keyRoom, out var valueRoom);
        _keys.Write(key, keyRoom);
        _values.Write(value, valueRoom);
        return message;
    }

    private async ValueTask<long> ChangeAsync(byte[] message, CancellationToken cancellationToken)
    {
        var outcome = await Replica.AskAsync(message, _order, waitsForPlace: true, onLeft: null, cancellationToken)
            .ConfigureAwait(Host.ResumesInContext);
        return outcome.Value switch
        {
            DictionaryMachine.TooManyKeys => throw new GroupFullException(
                Name, "keys", _maxKeys, $"Remove some, or raise {nameof(DictionaryOptions)}.{nameof(DictionaryOptions.MaxKeys)}."),
            DictionaryMachine.TooManyBytes => throw new GroupFullException(
                Name, "bytes", DictionaryMachine.MostBytes, "Remove keys, or keep large values elsewhere."),
            var version => version,
        };
    }

    private async IAsyncEnumerable<DictionaryChange<TKey, TValue>> ReadAsync(
        ChangeWatch<DictionaryChange<TKey, TValue>> watch, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        try
        {
            await foreach (var change in watch.ReadAsync(cancellationToken).ConfigureAwait(Host.ResumesInContext))
            {
                yield return change;
            }
        }
        finally
        {
            _view.Unwatch(watch);
        }
    }
}
