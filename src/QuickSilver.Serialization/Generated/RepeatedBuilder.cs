using System.Collections.Immutable;
using System.ComponentModel;
using System.Runtime.InteropServices;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Generated;

/// <summary>
/// Collects a repeated field of a size that is usually known before (<see cref="ProtobufReader.CountRepeats(uint)"/>): then its
/// array is the result, and nothing else is allocated.
/// </summary>
/// <typeparam name="T">The element.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public struct RepeatedBuilder<T>
{
    private T[]? _items;
    private int _count;

    /// <summary>Whether the next element needs room to be made.</summary>
    public readonly bool IsFull => _items is null || _count == _items.Length;

    /// <summary>Makes room for so many more.</summary>
    public void Reserve(int more)
    {
        int needed = checked(_count + more);
        if (_items is null)
        {
            _items = needed == 0 ? [] : new T[needed];
        }
        else if (needed > _items.Length)
        {
            Array.Resize(ref _items, (int)Math.Min(Array.MaxLength, Math.Max(needed, _items.Length * 2L)));
        }
    }

    /// <summary>Adds an element.</summary>
    public void Add(T item)
    {
        if (IsFull)
        {
            Reserve(1);
        }

        _items![_count++] = item;
    }

    /// <summary>What was collected, or null when the field never came.</summary>
    public T[]? ToArrayOrNull()
    {
        if (_items is not null && _items.Length != _count)
        {
            Array.Resize(ref _items, _count);
        }

        return _items;
    }

    /// <summary>What was collected.</summary>
    public T[] ToArray() => ToArrayOrNull() ?? [];

    /// <summary>What was collected.</summary>
    public ImmutableArray<T> ToImmutableArray() => ImmutableCollectionsMarshal.AsImmutableArray(ToArray());
}
