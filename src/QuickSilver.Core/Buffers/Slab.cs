using System.Buffers;

namespace QuickSilver.Core.Buffers;

// Memory of a fixed address, from which blocks are cut. It is a pinned array, or a piece of address space outside the collector's heap.
//
// Invariant: the bytes stay readable as long as anything refers to the slab, and what it hands out does: a lease, or a Memory. What
// points to them without a reference, a Span, is the core thread's only, whose node refers to the slab.
internal sealed unsafe class Slab : MemoryManager<byte>
{
    // Null: a piece of address space.
    private readonly byte[]? _array;

    private Slab(byte* first, int length, byte[]? array)
    {
        First = first;
        Length = length;
        _array = array;
    }

    // The last reference is gone, so no lease is held any more, nor a Memory. A Span may be left, which keeps nothing: the address space
    // stays mapped.
#pragma warning disable CA2015 // Memory is not freed while a Span may use it: the finalizer does not free.
    ~Slab() => AddressSpace.Return(First);
#pragma warning restore CA2015

    public byte* First { get; }

    public int Length { get; }

    /// <summary>On the collector's heap, which frees it with its pool.</summary>
    public static Slab Pinned(int length)
    {
        byte[] array = GC.AllocateUninitializedArray<byte>(length, pinned: true);
        var slab = new Slab((byte*)System.Runtime.InteropServices.Marshal.UnsafeAddrOfPinnedArrayElement(array, 0), length, array);
        GC.SuppressFinalize(slab);
        return slab;
    }

    /// <summary>Outside the collector's heap, at most <see cref="AddressSpace.PieceBytes"/> long.</summary>
    /// <exception cref="InsufficientMemoryException">The system refuses more address space.</exception>
    public static Slab Reserved(int length)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, AddressSpace.PieceBytes);
        return new Slab(AddressSpace.Take(), length, null);
    }

    public ReadOnlySpan<byte> Slice(int start, int length)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)start + (ulong)(uint)length, (ulong)Length);
        return new(First + start, length);
    }

    public Memory<byte> MemoryOf(int start, int length) =>
        _array is null ? CreateMemory(start, length) : _array.AsMemory(start, length);

    /// <summary>Gives the pages of a slab outside the collector's heap back to the system. Its bytes read as zeros then.</summary>
    public void Discard() => AddressSpace.Discard(First, (nuint)Length);

    /// <summary>Asks for pages of 2 MiB for what lies from <paramref name="start"/> on.</summary>
    public void AdviseHugePages(int start) => AddressSpace.AdviseHugePages(First + start, (nuint)Math.Max(0, Length - start));

    public override Span<byte> GetSpan() => new(First, Length);

    // The address is fixed, and the handle keeps the slab.
    public override MemoryHandle Pin(int elementIndex = 0) => new(First + elementIndex, default, this);

    public override void Unpin()
    {
    }

    protected override void Dispose(bool disposing)
    {
    }
}
