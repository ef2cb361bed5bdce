using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.Dictionaries;

// The entries of a dictionary as this node reads them. One thread changes it, without its lock while codecs are called; any thread reads.
internal sealed class DictionaryView<TKey, TValue>(
    string name, IPayloadCodec<TKey> keys, IPayloadCodec<TValue> values, TaskCreationOptions completions)
    where TKey : notnull
{
    private readonly Lock _lock = new();
    private readonly Dictionary<byte[], Item> _items = new(BytesComparer.Instance);
    private readonly List<ChangeWatch<DictionaryChange<TKey, TValue>>> _watches = [];
    private int _unreadable;
    private Exception? _end;

    public int Count
    {
        get
        {
            lock (_lock)
            {
                return _items.Count - _unreadable;
            }
        }
    }

    public int Unreadable
    {
        get
        {
            lock (_lock)
            {
                return _unreadable;
            }
        }
    }

    public bool TryGet(ReadOnlySpan<byte> key, out TValue? value, out long version)
    {
        lock (_lock)
        {
            if (_items.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(key, out var item) && item.IsReadable)
            {
                (value, version) = (item.Value, item.Version);
                return true;
            }
        }

        (value, version) = (default, 0);
        return false;
    }

    public List<DictionaryItem<TKey, TValue>> GetSnapshot()
    {
        lock (_lock)
        {
            return ReadableInOrder();
        }
    }

    /// <exception cref="Exception">Why the dictionary has ended.</exception>
    public ChangeWatch<DictionaryChange<TKey, TValue>> Watch(bool resumesInContext)
    {
        var watch = new ChangeWatch<DictionaryChange<TKey, TValue>>(name, completions, resumesInContext);
        lock (_lock)
        {
            if (_end is not null)
            {
                throw _end;
            }

            watch.Begin(ReadableInOrder().Select(static one =>
                new DictionaryChange<TKey, TValue>(one.Key, one.Value, IsRemoved: false, one.Version, Origin: null)));
            _watches.Add(watch);
        }

        return watch;
    }

    public void Unwatch(ChangeWatch<DictionaryChange<TKey, TValue>> watch)
    {
        lock (_lock)
        {
            _watches.Remove(watch);
        }
    }

    /// <summary>Makes a change.</summary>
    public void Apply(in EntryChange change)
    {
        if (change.Value is null)
        {
            Remove(change.Key, change.Version, change.Origin);
        }
        else
        {
            Put(Decode(change.Key, change.Value, change.Version), change.Key, change.Origin);
        }
    }

    /// <summary>Makes the changes that lead to other entries.</summary>
    public void Replace(IReadOnlyCollection<KeyValuePair<byte[], Entry>> entries, long version)
    {
        var kept = new HashSet<byte[]>(BytesComparer.Instance);
        foreach (var (key, entry) in entries.OrderBy(static one => one.Value.Version))
        {
            kept.Add(key);
            if (!_items.TryGetValue(key, out var known) || known.Version != entry.Version
                || !known.Bytes.AsSpan().SequenceEqual(entry.Value))
            {
                Put(Decode(key, entry.Value, entry.Version), key, origin: null);
            }
        }

        foreach (byte[] key in _items.Keys.Where(key => !kept.Contains(key)).ToList())
        {
            Remove(key, version, origin: null);
        }
    }

    public void End(Exception reason)
    {
        List<ChangeWatch<DictionaryChange<TKey, TValue>>> watches;
        lock (_lock)
        {
            _end = reason;
            watches = [.. _watches];
            _watches.Clear();
        }

        watches.ForEach(one => one.End(reason is ObjectDisposedException ? null : reason));
    }

    private List<DictionaryItem<TKey, TValue>> ReadableInOrder() =>
    [
        .. _items.Values.Where(static one => one.IsReadable).OrderBy(static one => one.Version)
            .Select(static one => new DictionaryItem<TKey, TValue>(one.Key!, one.Value!, one.Version)),
    ];

    // Codecs are the application's, and may throw anything.
    private Item Decode(byte[] key, byte[] value, long version)
    {
        try
        {
            return new Item(keys.Read(key), values.Read(value), value, version, IsReadable: true);
        }
        catch (Exception)
        {
            return new Item(default, default, value, version, IsReadable: false);
        }
    }

    private void Put(Item item, byte[] key, NodeId? origin)
    {
        lock (_lock)
        {
            var known = _items.GetValueOrDefault(key);
            _items[key] = item;
            _unreadable += (item.IsReadable ? 0 : 1) - (known is { IsReadable: false } ? 1 : 0);
            if (item.IsReadable)
            {
                Notify(new DictionaryChange<TKey, TValue>(item.Key!, item.Value, IsRemoved: false, item.Version, origin));
            }
            else if (known is { IsReadable: true })
            {
                Notify(new DictionaryChange<TKey, TValue>(known.Key!, default, IsRemoved: true, item.Version, origin));
            }
        }
    }

    private void Remove(byte[] key, long version, NodeId? origin)
    {
        lock (_lock)
        {
            if (!_items.Remove(key, out var known))
            {
                return;
            }

            _unreadable -= known.IsReadable ? 0 : 1;
            if (known.IsReadable)
            {
                Notify(new DictionaryChange<TKey, TValue>(known.Key!, default, IsRemoved: true, version, origin));
            }
        }
    }

    private void Notify(in DictionaryChange<TKey, TValue> change)
    {
        foreach (var watch in _watches)
        {
            watch.Add(change);
        }
    }

    private sealed record Item(TKey? Key, TValue? Value, byte[] Bytes, long Version, bool IsReadable);
}
