using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.Unicode;

namespace QuickSilver.Core.Serialization;

/// <summary>
/// Writes protobuf into a span. A nested message's length is not known when it begins: one byte is kept for it, and the rare
/// message of 128 bytes or more is moved up by the bytes that its length needs besides. So writing is one pass over the
/// value, and measuring it another, however deep it nests.
/// </summary>
/// <remarks>
/// A writer whose address nobody takes is kept in registers. So what is inlined into codecs calls static methods alone, and is
/// itself without calls to be inlined, of which the compiler would take too many for a large message. A field is checked once
/// for the most it can take; where less room is left, each of its parts is.
/// </remarks>
public ref struct ProtobufWriter
{
    // The longest tag that is written in one store, with the longest varint.
    private const uint StoredTags = 1 << 14;
    private const int MaxTagAndVarint = 2 + 10;

    private readonly ref byte _destination;
    private readonly nint _length;
    private nint _position;
    private int _depth;

    /// <summary>Writes at the start of <paramref name="destination"/>.</summary>
    public ProtobufWriter(Span<byte> destination)
    {
        _destination = ref MemoryMarshal.GetReference(destination);
        _length = destination.Length;
    }

    /// <summary>Bytes written so far.</summary>
    public readonly int Written => (int)_position;

    /// <summary>Writes a tag and a varint.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(uint tag, ulong value)
    {
        ref byte at = ref Unsafe.Add(ref _destination, _position);
        if (tag >= StoredTags || _length - _position < MaxTagAndVarint || value > Varint.MaxInWord || !BitConverter.IsLittleEndian)
        {
            _position += WriteVarints(ref at, _length - _position, tag, value);
            return;
        }

        ulong word = Varint.Spread(value);
        int unused = BitOperations.LeadingZeroCount(word | 1) & 0x38;
        word |= Varint.ContinueBitsOfShorter >> unused;
        // The tag is a constant, and so is the branch.
        if (tag < 0x80)
        {
            at = (byte)tag;
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, 1), word);
            _position += 1 + sizeof(ulong) - (nint)((uint)unused >> 3);
        }
        else
        {
            Unsafe.WriteUnaligned(ref at, (ushort)((tag & 0x7F) | 0x80 | (tag >> 7 << 8)));
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, 2), word);
            _position += 2 + sizeof(ulong) - (nint)((uint)unused >> 3);
        }
    }

    /// <summary>Writes a tag and eight bytes, little-endian.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFixed64(uint tag, ulong value)
    {
        ref byte at = ref Unsafe.Add(ref _destination, _position);
        if (tag >= StoredTags || _length - _position < 2 + sizeof(ulong) || !BitConverter.IsLittleEndian)
        {
            _position += WriteFixed(ref at, _length - _position, tag, value, sizeof(ulong));
        }
        else if (tag < 0x80)
        {
            at = (byte)tag;
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, 1), value);
            _position += 1 + sizeof(ulong);
        }
        else
        {
            Unsafe.WriteUnaligned(ref at, (ushort)((tag & 0x7F) | 0x80 | (tag >> 7 << 8)));
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, 2), value);
            _position += 2 + sizeof(ulong);
        }
    }

    /// <summary>Writes a tag and four bytes, little-endian.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFixed32(uint tag, uint value) =>
        _position += WriteFixed(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value, sizeof(uint));

    /// <summary>Writes a tag and a varint.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(uint tag, uint value) => WriteUInt64(tag, value);

    /// <summary>Writes a tag and a varint, sign-extended.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt64(uint tag, long value) => WriteUInt64(tag, (ulong)value);

    /// <summary>Writes a tag and a varint, sign-extended to 64 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt32(uint tag, int value) => WriteUInt64(tag, (ulong)(long)value);

    /// <summary>Writes a tag and 0 or 1.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteBool(uint tag, bool value) => WriteUInt64(tag, value ? 1UL : 0UL);

    /// <summary>Writes a tag and four bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFloat(uint tag, float value) => WriteFixed32(tag, BitConverter.SingleToUInt32Bits(value));

    /// <summary>Writes a tag and eight bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDouble(uint tag, double value) => WriteFixed64(tag, BitConverter.DoubleToUInt64Bits(value));

    /// <summary>Writes a tag, and bytes with their length.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteBytes(uint tag, ReadOnlySpan<byte> value) =>
        _position += WriteBytes(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag, and UTF-8 with its length. A lone surrogate becomes U+FFFD, as everywhere in .NET.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteString(uint tag, string value) =>
        _position += WriteString(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag and a decimal, keeping its scale.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDecimal(uint tag, decimal value) =>
        _position += ProtobufDotNetTypes.Write(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag and a Guid as two halves of its bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteGuid(uint tag, Guid value) =>
        _position += ProtobufDotNetTypes.Write(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag and a TimeSpan in the coarsest unit that is exact.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteTimeSpan(uint tag, TimeSpan value) =>
        _position += ScaledTicks.Write(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag and a DateTime as the time since 1970-01-01, without its kind.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDateTime(uint tag, DateTime value) =>
        _position += ScaledTicks.Write(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a tag and a DateTimeOffset: the instant, and the offset in minutes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDateTimeOffset(uint tag, DateTimeOffset value) =>
        _position += ScaledTicks.Write(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, value);

    /// <summary>Writes a varint without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(ulong value) =>
        _position += WriteVarint(ref Unsafe.Add(ref _destination, _position), _length - _position, value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(uint value) => WriteUInt64((ulong)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt64(long value) => WriteUInt64((ulong)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt32(int value) => WriteUInt64((ulong)(long)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteBool(bool value) => WriteUInt64(value ? 1UL : 0UL);

    /// <summary>Writes four bytes without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFloat(float value) => _position += WriteFixed(
        ref Unsafe.Add(ref _destination, _position), _length - _position, BitConverter.SingleToUInt32Bits(value), sizeof(float));

    /// <summary>Writes eight bytes without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDouble(double value) => _position += WriteFixed(
        ref Unsafe.Add(ref _destination, _position), _length - _position, BitConverter.DoubleToUInt64Bits(value), sizeof(double));

    /// <summary>Begins something with a length: packed values, a map's entry.</summary>
    /// <returns>What <see cref="EndLength"/> takes.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int BeginLength(uint tag)
    {
        _position += WriteVarints(ref Unsafe.Add(ref _destination, _position), _length - _position, tag, 0);
        return (int)_position;
    }

    /// <summary>Writes the length of what was written since.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndLength(int start) => _position = WriteLength(ref _destination, _length, start, (int)_position);

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
        _position = WriteLength(ref _destination, _length, start, written);
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint WriteFixed(ref byte destination, nint room, uint tag, ulong value, int width)
    {
        nint tagBytes = WriteVarint(ref destination, room, tag);
        return tagBytes + WriteFixed(ref Unsafe.Add(ref destination, tagBytes), room - tagBytes, value, width);
    }

    private static nint WriteFixed(ref byte destination, nint room, ulong value, int width)
    {
        if (width > room)
        {
            ThrowTooSmall();
        }

        if (width == sizeof(ulong))
        {
            BinaryPrimitives.WriteUInt64LittleEndian(MemoryMarshal.CreateSpan(ref destination, sizeof(ulong)), value);
        }
        else
        {
            BinaryPrimitives.WriteUInt32LittleEndian(MemoryMarshal.CreateSpan(ref destination, sizeof(uint)), (uint)value);
        }

        return width;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint WriteBytes(ref byte destination, nint room, uint tag, ReadOnlySpan<byte> value)
    {
        nint start = WriteVarints(ref destination, room, tag, (uint)value.Length);
        if (!value.TryCopyTo(MemoryMarshal.CreateSpan(ref Unsafe.Add(ref destination, start), (int)(room - start))))
        {
            ThrowTooSmall();
        }

        return start + value.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static nint WriteString(ref byte destination, nint room, uint tag, string value)
    {
        int start = (int)WriteVarints(ref destination, room, tag, 0);
        var text = MemoryMarshal.CreateSpan(ref Unsafe.Add(ref destination, start), (int)room - start);
        Utf8.FromUtf16(value, text, out int read, out int written);
        if (read != value.Length)
        {
            ThrowTooSmall();
        }

        return WriteLength(ref destination, room, start, start + written);
    }

    // What lies from start to end has its length before it, where one byte is kept. Returns where it ends then.
    private static nint WriteLength(ref byte destination, nint bytes, int start, int end)
    {
        int length = end - start;
        int more = ProtobufSize.UInt32((uint)length) - 1;
        if (more > 0)
        {
            if (more > bytes - end)
            {
                ThrowTooSmall();
            }

            var all = MemoryMarshal.CreateSpan(ref destination, (int)bytes);
            all[start..end].CopyTo(all[(start + more)..]);
        }

        WriteVarint(ref Unsafe.Add(ref destination, start - 1), more + 1, (uint)length);
        return end + more;
    }

    [DoesNotReturn]
    internal static void ThrowTooSmall() =>
        throw new ArgumentException("The destination is smaller than the value's size; ask GetSize first.", "destination");
}
