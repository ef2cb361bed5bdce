using System.Diagnostics.CodeAnalysis;
using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Flow;

// What a sink hands to a feed to be filled: a stretch of one leased block, and how many items may go in. The lease is
// given along, so that who retains what it wrote adds a claim and copies nothing.
internal ref struct PullContext
{
    private readonly int _start;
    private readonly int _capacity;
    private int _itemLimit;

    public PullContext(Lease lease, int offset, int capacityBytes, int maxItems, TimeSpan now)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxItems);
        // Slices, to have the bounds checked once.
        _ = lease.Span.Slice(offset, capacityBytes);
        Lease = lease;
        Now = now;
        _start = offset;
        _capacity = capacityBytes;
        _itemLimit = maxItems;
    }

    public Lease Lease { get; }

    public TimeSpan Now { get; }

    /// <summary>Where in the lease's block the next item goes.</summary>
    public readonly int Offset => _start + Written;

    /// <summary>The room for the next items.</summary>
    public readonly Span<byte> Room => Lease.Span.Slice(Offset, _capacity - Written);

    /// <summary>How many more items this turn may write.</summary>
    public readonly int ItemsAllowed => _itemLimit - Items;

    /// <summary>Items committed so far, by all who wrote.</summary>
    public int Items { get; private set; }

    /// <summary>Bytes committed so far, by all who wrote.</summary>
    public int Written { get; private set; }

    public readonly bool IsUntouched => Items == 0;

    /// <summary>The first <paramref name="bytes"/> of the room are an item now.</summary>
    public void Commit(int bytes)
    {
        if (bytes <= 0 || bytes > _capacity - Written || Items >= _itemLimit)
        {
            ThrowOverrun(bytes);
        }

        Written += bytes;
        Items++;
    }

    // One feed's turn within this context: until EndTurn with the value returned, fewer items are allowed.
    internal int BeginTurn(int items)
    {
        int outer = _itemLimit;
        _itemLimit = Math.Min(outer, Items + items);
        return outer;
    }

    internal void EndTurn(int outerLimit) => _itemLimit = outerLimit;

    [DoesNotReturn]
    private readonly void ThrowOverrun(int bytes) =>
        throw new InvalidOperationException(
            $"A feed committed {bytes} bytes, but {_capacity - Written} bytes and {ItemsAllowed} items were left.");
}
