using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Text.Unicode;
using QuickSilver.Serialization.Protobuf.Times;

namespace QuickSilver.Serialization.Protobuf;

// A field: its tag and its value.
public ref partial struct ProtobufWriter
{
    // The longest tag that is written in one store, with the longest varint.
    private const uint StoredTags = 1 << 14;
    private const int MaxTagAndVarint = 2 + 10;

    /// <summary>Writes a tag and a varint.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(uint tag, ulong value)
    {
        ref byte at = ref _at;
        if (tag >= StoredTags || _left < MaxTagAndVarint || value > Varint.MaxInWord || !BitConverter.IsLittleEndian)
        {
            Advance(WriteVarints(ref at, _left, tag, value));
            return;
        }

        ulong word = Varint.Spread(value);
        int unused = BitOperations.LeadingZeroCount(word | 1) & 0x38;
        word |= Varint.ContinueBitsOfShorter >> unused;
        // The tag is a constant, and so are the branches.
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag < 0x80)
        {
            at = (byte)tag;
        }
        else
        {
            Unsafe.WriteUnaligned(ref at, (ushort)((tag & 0x7F) | 0x80 | (tag >> 7 << 8)));
        }

        Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, tagBytes), word);
        nint unusedBytes = (nint)((uint)unused >> 3);
        _at = ref Unsafe.Subtract(ref Unsafe.Add(ref at, tagBytes + sizeof(ulong)), unusedBytes);
        _left = _left - (tagBytes + sizeof(ulong)) + unusedBytes;
    }

    /// <summary>Writes a tag and eight bytes, little-endian.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFixed64(uint tag, ulong value)
    {
        ref byte at = ref _at;
        if (tag >= StoredTags || _left < 2 + sizeof(ulong) || !BitConverter.IsLittleEndian)
        {
            Advance(WriteFixed(ref at, _left, tag, value, sizeof(ulong)));
        }
        else
        {
            int tagBytes = tag < 0x80 ? 1 : 2;
            if (tag < 0x80)
            {
                at = (byte)tag;
            }
            else
            {
                Unsafe.WriteUnaligned(ref at, (ushort)((tag & 0x7F) | 0x80 | (tag >> 7 << 8)));
            }

            Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, tagBytes), value);
            _at = ref Unsafe.Add(ref at, tagBytes + sizeof(ulong));
            _left -= tagBytes + sizeof(ulong);
        }
    }

    /// <summary>Writes a tag and four bytes, little-endian.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFixed32(uint tag, uint value) =>
        Advance(WriteFixed(ref _at, _left, tag, value, sizeof(uint)));

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
        Advance(WriteBytes(ref _at, _left, tag, value));

    /// <summary>Writes a tag, and UTF-8 with its length. A lone surrogate becomes U+FFFD, as everywhere in .NET.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteString(uint tag, string value) =>
        Advance(WriteString(ref _at, _left, tag, value));

    /// <summary>Writes a tag and a decimal, keeping its scale.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDecimal(uint tag, decimal value) =>
        Advance(ProtobufDotNetTypes.Write(ref _at, _left, tag, value));

    /// <summary>Writes a tag and a Guid as two halves of its bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteGuid(uint tag, Guid value)
    {
        ref byte at = ref _at;
        var halves = Unsafe.BitCast<Guid, Vector128<ulong>>(value);
        if (tag >= StoredTags || _left < 2 + 1 + ProtobufDotNetTypes.GuidBytes || halves == Vector128<ulong>.Zero
            || !BitConverter.IsLittleEndian)
        {
            Advance(ProtobufDotNetTypes.Write(ref at, _left, tag, value));
            return;
        }

        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag < 0x80)
        {
            at = (byte)tag;
        }
        else
        {
            Unsafe.WriteUnaligned(ref at, (ushort)((tag & 0x7F) | 0x80 | (tag >> 7 << 8)));
        }

        Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, tagBytes), ProtobufDotNetTypes.GuidStart);
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, tagBytes + 2), halves.GetElement(0));
        Unsafe.Add(ref at, tagBytes + 10) = (byte)ProtobufDotNetTypes.GuidHighTag;
        Unsafe.WriteUnaligned(ref Unsafe.Add(ref at, tagBytes + 11), halves.GetElement(1));
        _at = ref Unsafe.Add(ref at, tagBytes + 1 + ProtobufDotNetTypes.GuidBytes);
        _left -= tagBytes + 1 + ProtobufDotNetTypes.GuidBytes;
    }

    /// <summary>Writes a tag and a TimeSpan in the coarsest unit that is exact.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteTimeSpan(uint tag, TimeSpan value) =>
        Advance(ScaledTicks.Write(ref _at, _left, tag, value));

    /// <summary>Writes a tag and a DateTime as the time since 1970-01-01, without its kind.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDateTime(uint tag, DateTime value) =>
        Advance(ScaledTicks.Write(ref _at, _left, tag, value));

    /// <summary>Writes a tag and a DateTimeOffset: the instant, and the offset in minutes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDateTimeOffset(uint tag, DateTimeOffset value) =>
        Advance(ScaledTicks.Write(ref _at, _left, tag, value));

    /// <summary>Writes a tag and 16 bytes, little-endian, with their length.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt128(uint tag, Int128 value) =>
        Advance(WriteUInt128(ref _at, _left, tag, (UInt128)value));

    /// <summary>Writes a tag and 16 bytes, little-endian, with their length.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt128(uint tag, UInt128 value) =>
        Advance(WriteUInt128(ref _at, _left, tag, value));

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
    private static nint WriteUInt128(ref byte destination, nint room, uint tag, UInt128 value)
    {
        Span<byte> bytes = stackalloc byte[ProtobufDotNetTypes.Int128Bytes];
        BinaryPrimitives.WriteUInt128LittleEndian(bytes, value);
        return WriteBytes(ref destination, room, tag, bytes);
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

        int end = start + written;
        return end + WriteLength(ref Unsafe.Add(ref destination, end), room - end, written);
    }
}
