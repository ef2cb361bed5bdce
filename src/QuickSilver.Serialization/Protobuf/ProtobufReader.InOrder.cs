using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace QuickSilver.Serialization.Protobuf;

// A field is read if it is the next one. Most are, since every writer here keeps the order of the numbers.
public ref partial struct ProtobufReader
{
    // Those of one or two bytes.
    private const uint TriedTags = 1 << 14;

    /// <summary>Reads a varint if the next field has this tag.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadVarint(uint tag, out ulong value)
    {
        ref byte at = ref Unsafe.AsRef(in _at);
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (_left < tagBytes + sizeof(ulong))
        {
            if (_left <= tagBytes)
            {
                value = 0;
                return false;
            }

            (value, nint lastBytes) = TryReadLastVarint(ref at, _left, tag);
            _at = ref Unsafe.Add(ref at, lastBytes);
            _left -= lastBytes;
            return lastBytes > 0;
        }

        if (tag >= TriedTags || !BitConverter.IsLittleEndian
            || (tag < 0x80 ? at : Unsafe.ReadUnaligned<ushort>(ref at)) != (tag < 0x80 ? tag : (tag & 0x7F) | 0x80 | (tag >> 7 << 8)))
        {
            value = 0;
            return false;
        }

        // Branches on the length are foretold, so that the next field is not waited for; most fields have always the same.
        ulong word = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref at, tagBytes));
        if ((word & 0x80) == 0)
        {
            value = word & 0x7F;
            _at = ref Unsafe.Add(ref at, tagBytes + 1);
            _left -= tagBytes + 1;
        }
        else if ((word & 0x8000) == 0)
        {
            value = (word & 0x7F) | ((word >> 1) & 0x3F80);
            _at = ref Unsafe.Add(ref at, tagBytes + 2);
            _left -= tagBytes + 2;
        }
        else if ((word & 0x800000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 3);
            _left -= tagBytes + 3;
        }
        else if ((word & 0x80000000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 4);
            _left -= tagBytes + 4;
        }
        else if ((word & 0x80_00000000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 5);
            _left -= tagBytes + 5;
        }
        else if ((word & 0x8000_00000000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 6);
            _left -= tagBytes + 6;
        }
        else if ((word & 0x800000_00000000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F7F7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 7);
            _left -= tagBytes + 7;
        }
        else if ((word & 0x8000000000000000) == 0)
        {
            value = Varint.Gather(word, 0x7F7F7F7F7F7F7F7F);
            _at = ref Unsafe.Add(ref at, tagBytes + 8);
            _left -= tagBytes + 8;
        }
        else
        {
            (value, nint bytes) = ReadLongVarint(ref Unsafe.Add(ref at, tagBytes), _left - tagBytes);
            _at = ref Unsafe.Add(ref at, tagBytes + bytes);
            _left -= tagBytes + bytes;
        }

        return true;
    }

    /// <summary>Reads eight bytes if the next field has this tag.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadDouble(uint tag, out double value)
    {
        ref byte at = ref Unsafe.AsRef(in _at);
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag >= TriedTags || _left < tagBytes + sizeof(double) || !BitConverter.IsLittleEndian
            || (tag < 0x80 ? at : Unsafe.ReadUnaligned<ushort>(ref at)) != (tag < 0x80 ? tag : (tag & 0x7F) | 0x80 | (tag >> 7 << 8)))
        {
            value = 0;
            return false;
        }

        value = Unsafe.ReadUnaligned<double>(ref Unsafe.Add(ref at, tagBytes));
        _at = ref Unsafe.Add(ref at, tagBytes + sizeof(double));
        _left -= tagBytes + sizeof(double);
        return true;
    }

    /// <summary>Reads four bytes if the next field has this tag.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadFloat(uint tag, out float value)
    {
        ref byte at = ref Unsafe.AsRef(in _at);
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag >= TriedTags || _left < tagBytes + sizeof(float) || !BitConverter.IsLittleEndian
            || (tag < 0x80 ? at : Unsafe.ReadUnaligned<ushort>(ref at)) != (tag < 0x80 ? tag : (tag & 0x7F) | 0x80 | (tag >> 7 << 8)))
        {
            value = 0;
            return false;
        }

        value = Unsafe.ReadUnaligned<float>(ref Unsafe.Add(ref at, tagBytes));
        _at = ref Unsafe.Add(ref at, tagBytes + sizeof(float));
        _left -= tagBytes + sizeof(float);
        return true;
    }

    /// <summary>Reads a Guid if the next field has this tag, and it is written as every writer here does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadGuid(uint tag, out Guid value)
    {
        ref byte at = ref Unsafe.AsRef(in _at);
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag >= TriedTags || _left < tagBytes + 1 + ProtobufDotNetTypes.GuidBytes || !BitConverter.IsLittleEndian
            || (tag < 0x80 ? at : Unsafe.ReadUnaligned<ushort>(ref at)) != (tag < 0x80 ? tag : (tag & 0x7F) | 0x80 | (tag >> 7 << 8))
            || Unsafe.ReadUnaligned<ushort>(ref Unsafe.Add(ref at, tagBytes)) != ProtobufDotNetTypes.GuidStart
            || Unsafe.Add(ref at, tagBytes + 10) != ProtobufDotNetTypes.GuidHighTag)
        {
            value = default;
            return false;
        }

        // As one vector: two halves in memory would have to be there before they can be read as one value.
        value = Unsafe.BitCast<Vector128<ulong>, Guid>(Vector128.Create(
            Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref at, tagBytes + 2)),
            Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref at, tagBytes + 11))));
        _at = ref Unsafe.Add(ref at, tagBytes + 1 + ProtobufDotNetTypes.GuidBytes);
        _left -= tagBytes + 1 + ProtobufDotNetTypes.GuidBytes;
        return true;
    }

    /// <summary>Reads something with a length if the next field has this tag, and the length is below 128.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryReadBytes(uint tag, out ReadOnlySpan<byte> value)
    {
        ref byte at = ref Unsafe.AsRef(in _at);
        int tagBytes = tag < 0x80 ? 1 : 2;
        if (tag >= TriedTags || _left <= tagBytes || !BitConverter.IsLittleEndian
            || (tag < 0x80 ? at : Unsafe.ReadUnaligned<ushort>(ref at)) != (tag < 0x80 ? tag : (tag & 0x7F) | 0x80 | (tag >> 7 << 8))
            || Unsafe.Add(ref at, tagBytes) >= 0x80
            || Unsafe.Add(ref at, tagBytes) >= _left - tagBytes)
        {
            value = default;
            return false;
        }

        int length = Unsafe.Add(ref at, tagBytes);
        value = MemoryMarshal.CreateReadOnlySpan(ref Unsafe.Add(ref at, tagBytes + 1), length);
        _at = ref Unsafe.Add(ref at, tagBytes + 1 + length);
        _left -= tagBytes + 1 + length;
        return true;
    }

    // Close to the message's end; no bytes where it has another tag.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (ulong Value, nint Bytes) TryReadLastVarint(ref byte source, nint length, uint tag)
    {
        var rest = MemoryMarshal.CreateReadOnlySpan(ref source, (int)length);
        var (found, tagBytes) = ReadTag(rest);
        if (found != tag)
        {
            return (0, 0);
        }

        var (value, bytes) = ReadVarint(rest[tagBytes..]);
        return (value, tagBytes + bytes);
    }
}
