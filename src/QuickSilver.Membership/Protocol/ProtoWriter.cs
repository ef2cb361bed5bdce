using System.Buffers.Binary;
using System.Text;

namespace QuickSilver.Membership.Protocol;

// Writes protobuf wire format into one growing buffer that is used again and again. As in proto3, a field with its
// default value is left out. A nested message is written in place: one byte is kept for its length, and only a message
// of 128 bytes or more is shifted to make room for a longer one.
internal sealed class ProtoWriter
{
    private const int LeastBytes = 128;
    private const int MostIdleBytes = 4096;

    private byte[] _buffer = [];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _buffer.AsSpan(0, Length);

    public void Clear() => Length = 0;

    /// <summary>As Clear; what a rare large message needed is given back.</summary>
    public void Rest()
    {
        Clear();
        if (_buffer.Length > MostIdleBytes)
        {
            _buffer = [];
        }
    }

    public void UInt64(int field, ulong value)
    {
        if (value != 0)
        {
            Tag(field, ProtoWireType.Varint);
            Varint(value);
        }
    }

    public void Int64(int field, long value) => UInt64(field, (ulong)value);

    public void Bool(int field, bool value) => UInt64(field, value ? 1UL : 0UL);

    public void Fixed64(int field, ulong value)
    {
        if (value != 0)
        {
            Tag(field, ProtoWireType.Fixed64);
            BinaryPrimitives.WriteUInt64LittleEndian(Reserve(8), value);
        }
    }

    public void Text(int field, string value)
    {
        if (value.Length != 0)
        {
            Tag(field, ProtoWireType.LengthDelimited);
            int bytes = Encoding.UTF8.GetByteCount(value);
            Varint((ulong)bytes);
            Encoding.UTF8.GetBytes(value, Reserve(bytes));
        }
    }

    public void Bytes(int field, ReadOnlySpan<byte> value)
    {
        if (!value.IsEmpty)
        {
            Tag(field, ProtoWireType.LengthDelimited);
            Varint((ulong)value.Length);
            value.CopyTo(Reserve(value.Length));
        }
    }

    public void PackedFixed64(int field, ReadOnlySpan<ulong> values)
    {
        if (!values.IsEmpty)
        {
            Tag(field, ProtoWireType.LengthDelimited);
            Varint((ulong)values.Length * 8);
            foreach (ulong value in values)
            {
                BinaryPrimitives.WriteUInt64LittleEndian(Reserve(8), value);
            }
        }
    }

    /// <summary>Opens a nested message; the result goes to <see cref="End"/>.</summary>
    public int Begin(int field)
    {
        Tag(field, ProtoWireType.LengthDelimited);
        Reserve(1);
        return Length;
    }

    public void End(int start)
    {
        int body = Length - start;
        int extra = VarintBytes((ulong)body) - 1;
        if (extra > 0)
        {
            Reserve(extra);
            _buffer.AsSpan(start, body).CopyTo(_buffer.AsSpan(start + extra));
        }

        int end = Length;
        Length = start - 1;
        Varint((ulong)body);
        Length = end;
    }

    /// <summary>Keeps four bytes for a frame's length; the result goes to <see cref="EndFrame"/>.</summary>
    public int BeginFrame()
    {
        Reserve(ControlFrame.PrefixBytes);
        return Length;
    }

    public void EndFrame(int start) =>
        BinaryPrimitives.WriteInt32LittleEndian(_buffer.AsSpan(start - ControlFrame.PrefixBytes), Length - start);

    private void Tag(int field, ProtoWireType type) => Varint(((ulong)field << 3) | (ulong)type);

    private void Varint(ulong value)
    {
        while (value >= 0x80)
        {
            Reserve(1)[0] = (byte)(value | 0x80);
            value >>= 7;
        }

        Reserve(1)[0] = (byte)value;
    }

    private static int VarintBytes(ulong value)
    {
        int bytes = 1;
        for (; value >= 0x80; value >>= 7)
        {
            bytes++;
        }

        return bytes;
    }

    private Span<byte> Reserve(int bytes)
    {
        if (_buffer.Length - Length < bytes)
        {
            Array.Resize(ref _buffer, Math.Max(Math.Max(_buffer.Length * 2, LeastBytes), Length + bytes));
        }

        var span = _buffer.AsSpan(Length, bytes);
        Length += bytes;
        return span;
    }
}
