using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>
/// Writes protobuf into a span. A nested message's length is not known when it begins: one byte is kept for it, and the rare
/// message of 128 bytes or more is moved up by the bytes that its length needs besides. So writing is one pass over the
/// value, and measuring it another, however deep it nests.
/// </summary>
/// <remarks>
/// A writer whose address is not taken is kept in registers. So what is inlined into codecs calls static methods alone, and is
/// itself without calls to be inlined, of which the compiler would take too many for a large message. A field is checked once
/// for the most it can take; where less room is left, each of its parts is.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref partial struct ProtobufWriter
{
    private readonly int _length;
    private ref byte _at;
    private nint _left;
    private int _depth;

    /// <summary>Writes at the start of <paramref name="destination"/>.</summary>
    public ProtobufWriter(Span<byte> destination)
    {
        _at = ref MemoryMarshal.GetReference(destination);
        _length = destination.Length;
        _left = _length;
    }

    /// <summary>Bytes written so far.</summary>
    public readonly int Written => _length - (int)_left;

    /// <summary>Begins something with a length: packed values, a map's entry.</summary>
    /// <returns>What <see cref="EndLength"/> takes.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int BeginLength(uint tag)
    {
        Advance(WriteVarints(ref _at, _left, tag, 0));
        return Written;
    }

    /// <summary>Writes the length of what was written since.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndLength(int start) => Advance(WriteLength(ref _at, _left, Written - start));

    /// <summary>Begins a nested message.</summary>
    /// <returns>What <see cref="EndMessage"/> takes.</returns>
    /// <exception cref="InvalidOperationException">It nests deeper than <see cref="ProtobufLimits.MaxDepth"/>.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int BeginMessage(uint tag)
    {
        ProtobufLimits.CheckDepth(++_depth);
        return BeginLength(tag);
    }

    /// <summary>Ends a nested message.</summary>
    /// <param name="start">What <see cref="BeginMessage"/> gave.</param>
    /// <param name="written">What the copy of this writer that wrote it has <see cref="Written"/>.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndMessage(int start, int written)
    {
        _depth--;
        Advance(written - Written);
        Advance(WriteLength(ref _at, _left, written - start));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint WriteVarints(ref byte destination, nint room, uint tag, ulong value)
    {
        nint tagBytes = WriteVarint(ref destination, room, tag);
        return tagBytes + WriteVarint(ref Unsafe.Add(ref destination, tagBytes), room - tagBytes, value);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint WriteVarint(ref byte destination, nint room, ulong value)
    {
        if (room >= Varint.MaxBytes)
        {
            return Varint.Write(ref destination, value);
        }

        if (ProtobufSize.UInt64(value) > room)
        {
            ThrowTooSmall();
        }

        nint position = 0;
        for (; value >= 0x80; value >>= 7)
        {
            Unsafe.Add(ref destination, position++) = (byte)(value | 0x80);
        }

        Unsafe.Add(ref destination, position) = (byte)value;
        return position + 1;
    }

    // So many bytes that lie before the end get their length before them, where one byte is kept for it. Returns how many bytes
    // more that takes.
    private static nint WriteLength(ref byte end, nint room, int length)
    {
        ref byte start = ref Unsafe.Subtract(ref end, length);
        int more = ProtobufSize.UInt32((uint)length) - 1;
        if (more > 0)
        {
            if (more > room)
            {
                ThrowTooSmall();
            }

            var all = MemoryMarshal.CreateSpan(ref start, length + more);
            all[..length].CopyTo(all[more..]);
        }

        WriteVarint(ref Unsafe.Subtract(ref start, 1), more + 1, (uint)length);
        return more;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Advance(nint bytes)
    {
        _at = ref Unsafe.Add(ref _at, bytes);
        _left -= bytes;
    }

    [DoesNotReturn]
    internal static void ThrowTooSmall() =>
        throw new ArgumentException("The destination is too small for the value. Call GetSize for the required size.", "destination");
}
