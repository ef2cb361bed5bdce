using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States;

// The entries of a state on one node. Any thread reads and merges: an entry replaces an older one of its key, whatever the order in which
// they come, so merging twice or in another order leads to the same content.
//
// Readers of changes get only the key, and read its entry when they get to it: two threads that merge entries of one key may report it
// in another order than they merged.
internal sealed class StateTable<TKey, TValue>(int maxKeys, TimeProvider time)
    where TKey : notnull
{
    public static readonly TimeSpan RemovalsKept = TimeSpan.FromMinutes(10);

    // Only where changes fail by the ten thousand while others wait.
    private const int MostReverted = 1 << 16;

    private readonly ConcurrentDictionary<TKey, StateEntry<TKey, TValue>> _entries = new();
    private readonly ConcurrentQueue<(StateEntry<TKey, TValue> Entry, long At)> _removals = new();
    // Replaced as a whole.
    private ImmutableArray<ChangeQueue<TKey, TKey>> _readers = [];
    // Changes of this node that were taken back, with what each had replaced. A later change of the key may have replaced one before that,
    // and may be taken back itself.
    private readonly Dictionary<StateEntry<TKey, TValue>, StateEntry<TKey, TValue>> _reverted = [];
    // Changes of this node that may be taken back.
    private int _unsettled;
    private int _count;
    private long _outranked;

    /// <summary>The number of keys with a value.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>The number of keys with a value, and of those that were removed and are remembered.</summary>
    public int Entries => _entries.Count;

    public int MaxKeys => maxKeys;

    /// <summary>How many entries were not taken because there was a newer one.</summary>
    public long Outranked => Volatile.Read(ref _outranked);

    public StateClock Clock { get; } = new(time);

    public bool TryGet(TKey key, [MaybeNullWhen(false)] out StateEntry<TKey, TValue> entry) =>
        _entries.TryGetValue(key, out entry) && !entry.IsRemoved;

    /// <summary>All entries in the order of their stamps, removed ones included, so that the order is the same in each run.</summary>
    public StateEntry<TKey, TValue>[] ToArray()
    {
        var entries = _entries.Values.ToArray();
        Array.Sort(entries, static (a, b) => a.Stamp.CompareTo(b.Stamp));
        return entries;
    }

    /// <summary>The stamp of a new change of a key: above all that this node has seen.</summary>
    public StateStamp NextStamp(TKey key, NodeId self) =>
        new(Clock.Next(_entries.TryGetValue(key, out var known) ? known.Stamp.Counter : 0), self);

    /// <summary>Takes an entry. False if there is a newer one of its key.</summary>
    public bool Merge(StateEntry<TKey, TValue> entry) => Merge(entry, out _);

    /// <summary>The same, with the entry that it has replaced; null if there was none.</summary>
    public bool Merge(StateEntry<TKey, TValue> entry, out StateEntry<TKey, TValue>? known)
    {
        Clock.See(entry.Stamp.Counter);
        while (true)
        {
            if (!_entries.TryGetValue(entry.Key, out known))
            {
                if (_entries.TryAdd(entry.Key, entry))
                {
                    OnMerged(entry, wasThere: false);
                    return true;
                }
            }
            else if (entry.Stamp.CompareTo(known.Stamp) <= 0)
            {
                Interlocked.Increment(ref _outranked);
                return false;
            }
            else if (_entries.TryUpdate(entry.Key, entry, known))
            {
                OnMerged(entry, wasThere: !known.IsRemoved);
                return true;
            }
        }
    }

    /// <summary>
    /// Puts back what an entry has replaced, unless a newer one has replaced it. A key that was new is then one that was removed before the
    /// first change of any node, because readers may know of it.
    /// </summary>
    public void Revert(StateEntry<TKey, TValue> entry, StateEntry<TKey, TValue>? before)
    {
        before ??= new StateEntry<TKey, TValue>(entry.Key, default, isRemoved: true, StateStamp.BeforeAll);
        bool isBack;
        lock (_reverted)
        {
            // What it had replaced may have been taken back before it.
            while (_reverted.TryGetValue(before, out var older))
            {
                before = older;
            }

            if (_reverted.Count >= MostReverted)
            {
                _reverted.Clear();
            }

            _reverted[entry] = before;
            isBack = _entries.TryUpdate(entry.Key, before, entry);
        }

        if (isBack)
        {
            OnMerged(before, wasThere: !entry.IsRemoved);
        }
    }

    /// <summary>A change of this node begins that may be taken back.</summary>
    public void BeginChange() => Interlocked.Increment(ref _unsettled);

    /// <summary>The change was accepted, or was taken back.</summary>
    public void SettleChange()
    {
        if (Interlocked.Decrement(ref _unsettled) > 0)
        {
            return;
        }

        lock (_reverted)
        {
            // None of them is in the table now.
            if (Volatile.Read(ref _unsettled) == 0)
            {
                _reverted.Clear();
            }
        }
    }

    /// <summary>A reader of changes, which first gets all keys that have a value.</summary>
    public ChangeQueue<TKey, TKey> AddReader(TaskCreationOptions completions)
    {
        var reader = new ChangeQueue<TKey, TKey>(completions);
        ImmutableInterlocked.Update(ref _readers, static (readers, one) => readers.Add(one), reader);
        foreach (var entry in ToArray())
        {
            if (!entry.IsRemoved)
            {
                reader.Put(entry.Key, entry.Key);
            }
        }

        return reader;
    }

    public void RemoveReader(ChangeQueue<TKey, TKey> reader) =>
        ImmutableInterlocked.Update(ref _readers, static (readers, one) => readers.Remove(one), reader);

    /// <summary>The last change of a key that a reader got; false if it is forgotten.</summary>
    public bool TryGetLast(TKey key, [MaybeNullWhen(false)] out StateEntry<TKey, TValue> entry) => _entries.TryGetValue(key, out entry);

    public void End(Exception? error)
    {
        foreach (var reader in _readers)
        {
            reader.End(error);
        }
    }

    private void OnMerged(StateEntry<TKey, TValue> entry, bool wasThere)
    {
        if (wasThere == entry.IsRemoved)
        {
            Interlocked.Add(ref _count, entry.IsRemoved ? -1 : 1);
        }

        if (entry.IsRemoved)
        {
            _removals.Enqueue((entry, time.GetTimestamp()));
            ForgetOld();
        }

        foreach (var reader in _readers)
        {
            reader.Put(entry.Key, entry.Key);
        }
    }

    // An entry that was replaced meanwhile is not in the table any more: only the very entry is removed.
    private void ForgetOld()
    {
        while (_removals.TryPeek(out var oldest)
            && (_removals.Count > maxKeys || time.GetElapsedTime(oldest.At) > RemovalsKept)
            && _removals.TryDequeue(out oldest))
        {
            _entries.TryRemove(new KeyValuePair<TKey, StateEntry<TKey, TValue>>(oldest.Entry.Key, oldest.Entry));
        }
    }
}
