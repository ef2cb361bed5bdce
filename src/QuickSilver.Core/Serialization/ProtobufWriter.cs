using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Text.Unicode;

namespace QuickSilver.Core.Serialization;

/// <summary>
/// Writes protobuf into a span. A nested message's length is not known when it begins: one byte is kept for it, and the rare
/// message of 128 bytes or more is moved up by the bytes that its length needs besides. So writing is one pass over the
/// value, and measuring it another, however deep it nests.
/// </summary>
public ref struct ProtobufWriter
{
    private readonly Span<byte> _destination;
    private int _position;
    private int _depth;

    /// <summary>Writes at the start of <paramref name="destination"/>.</summary>
    public ProtobufWriter(Span<byte> destination)
    {
        _destination = destination;
    }

    /// <summary>Bytes written so far.</summary>
    public readonly int Written => _position;

    /// <summary>Writes a field's tag: its number and wire type.</summary>
    public void WriteTag(uint tag) => WriteUInt64(tag);

    /// <summary>Writes a varint.</summary>
    public void WriteUInt64(ulong value)
    {
        while (value >= 0x80)
        {
            WriteByte((byte)(value | 0x80));
            value >>= 7;
        }

        WriteByte((byte)value);
    }

    /// <summary>Writes a varint.</summary>
    public void WriteUInt32(uint value) => WriteUInt64(value);

    /// <summary>Writes a varint, sign-extended.</summary>
    public void WriteInt64(long value) => WriteUInt64((ulong)value);

    /// <summary>Writes a varint, sign-extended to 64 bits.</summary>
    public void WriteInt32(int value) => WriteUInt64((ulong)(long)value);

    /// <summary>Writes a zigzag varint.</summary>
    public void WriteSInt64(long value) => WriteUInt64(ProtobufSize.ZigZag(value));

    /// <summary>Writes 0 or 1.</summary>
    public void WriteBool(bool value) => WriteByte(value ? (byte)1 : (byte)0);

    /// <summary>Writes four bytes, little-endian.</summary>
    public void WriteFixed32(uint value) => BinaryPrimitives.WriteUInt32LittleEndian(Take(sizeof(uint)), value);

    /// <summary>Writes eight bytes, little-endian.</summary>
    public void WriteFixed64(ulong value) => BinaryPrimitives.WriteUInt64LittleEndian(Take(sizeof(ulong)), value);

    /// <summary>Writes four bytes.</summary>
    public void WriteFloat(float value) => WriteFixed32(BitConverter.SingleToUInt32Bits(value));

    /// <summary>Writes eight bytes.</summary>
    public void WriteDouble(double value) => WriteFixed64(BitConverter.DoubleToUInt64Bits(value));

    /// <summary>Writes bytes with their length.</summary>
    public void WriteBytes(ReadOnlySpan<byte> value)
    {
        WriteUInt32((uint)value.Length);
        value.CopyTo(Take(value.Length));
    }

    /// <summary>Writes UTF-8 with its length. A lone surrogate becomes U+FFFD, as everywhere in .NET.</summary>
    public void WriteString(string value)
    {
        int start = BeginLength();
        Utf8.FromUtf16(value, _destination[_position..], out int read, out int written);
        if (read != value.Length)
        {
            ThrowTooSmall();
        }

        _position += written;
        EndLength(start);
    }

    /// <summary>Begins something with a length: packed values, a map's entry.</summary>
    /// <returns>What <see cref="EndLength"/> takes.</returns>
    public int BeginLength()
    {
        Take(1);
        return _position;
    }

    /// <summary>Writes the length of what was written since.</summary>
    public void EndLength(int start)
    {
        int length = _position - start;
        if (length >= 0x80)
        {
            int more = ProtobufSize.UInt32((uint)length) - 1;
            Take(more);
            _destination.Slice(start, length).CopyTo(_destination[(start + more)..]);
        }

        int end = _position;
        _position = start - 1;
        WriteUInt32((uint)length);
        _position = end;
    }

    /// <summary>Begins a nested message.</summary>
    /// <returns>What <see cref="EndMessage"/> takes.</returns>
    /// <exception cref="InvalidOperationException">It nests deeper than <see cref="ProtobufLimits.MaxDepth"/>.</exception>
    public int BeginMessage()
    {
        ProtobufLimits.CheckDepth(++_depth);
        return BeginLength();
    }

    /// <summary>Ends a nested message.</summary>
    public void EndMessage(int start)
    {
        _depth--;
        EndLength(start);
    }

    private void WriteByte(byte value)
    {
        if ((uint)_position >= (uint)_destination.Length)
        {
            ThrowTooSmall();
        }

        _destination[_position++] = value;
    }

    private Span<byte> Take(int count)
    {
        if (count > _destination.Length - _position)
        {
            ThrowTooSmall();
        }

        var taken = _destination.Slice(_position, count);
        _position += count;
        return taken;
    }

    [DoesNotReturn]
    private static void ThrowTooSmall() =>
        throw new ArgumentException("The destination is smaller than the value's size; ask GetSize first.", "destination");
}
