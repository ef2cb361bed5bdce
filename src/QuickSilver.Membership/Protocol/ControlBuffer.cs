using System.Buffers.Binary;
using System.Text;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// Where control messages are written: a buffer that grows and is used again and again. ProtobufWriter writes each field, after the buffer
// has made room for the most that the field can take. As in proto3, a field with its default value is left out.
internal sealed class ControlBuffer
{
    private const int LeastBytes = 128;
    private const int MostIdleBytes = 4096;

    private const int MaxTagBytes = 5;
    private const int MaxLengthBytes = 5;

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
            var writer = MakeRoom(MaxTagBytes + Varint.MaxBytes);
            writer.WriteUInt64(Tag(field, ProtobufWireType.Varint), value);
            Length += writer.Written;
        }
    }

    public void Int64(int field, long value) => UInt64(field, (ulong)value);

    public void Bool(int field, bool value) => UInt64(field, value ? 1UL : 0UL);

    public void Fixed64(int field, ulong value)
    {
        if (value != 0)
        {
            var writer = MakeRoom(MaxTagBytes + sizeof(ulong));
            writer.WriteFixed64(Tag(field, ProtobufWireType.Fixed64), value);
            Length += writer.Written;
        }
    }

    public void Text(int field, string value)
    {
        if (value.Length != 0)
        {
            var writer = MakeRoom(MaxTagBytes + MaxLengthBytes + Encoding.UTF8.GetByteCount(value));
            writer.WriteString(Tag(field, ProtobufWireType.LengthDelimited), value);
            Length += writer.Written;
        }
    }

    public void Bytes(int field, ReadOnlySpan<byte> value)
    {
        if (!value.IsEmpty)
        {
            var writer = MakeRoom(MaxTagBytes + MaxLengthBytes + value.Length);
            writer.WriteBytes(Tag(field, ProtobufWireType.LengthDelimited), value);
            Length += writer.Written;
        }
    }

    public void PackedFixed64(int field, ReadOnlySpan<ulong> values)
    {
        if (!values.IsEmpty)
        {
            var writer = MakeRoom(MaxTagBytes + MaxLengthBytes + (values.Length * sizeof(ulong)));
            int start = writer.BeginLength(Tag(field, ProtobufWireType.LengthDelimited));
            foreach (ulong value in values)
            {
                writer.WriteFixed64(value);
            }

            writer.EndLength(start);
            Length += writer.Written;
        }
    }

    /// <summary>Opens a nested message; the result goes to <see cref="End"/>.</summary>
    public int Begin(int field)
    {
        var writer = MakeRoom(MaxTagBytes + MaxLengthBytes);
        writer.BeginLength(Tag(field, ProtobufWireType.LengthDelimited));
        Length += writer.Written;
        return Length;
    }

    public void End(int start)
    {
        MakeRoom(MaxLengthBytes);
        // Other writers wrote the fields, so this one has to know where they end. It begins at the byte that was kept for the length.
        int kept = start - 1;
        var writer = new ProtobufWriter(_buffer.AsSpan(kept));
        writer.EndMessage(start: 1, written: Length - kept);
        Length = kept + writer.Written;
    }

    /// <summary>Keeps four bytes for a frame's length; the result goes to <see cref="EndFrame"/>.</summary>
    public int BeginFrame()
    {
        MakeRoom(ControlFrame.PrefixBytes);
        return Length += ControlFrame.PrefixBytes;
    }

    public void EndFrame(int start) =>
        BinaryPrimitives.WriteInt32LittleEndian(_buffer.AsSpan(start - ControlFrame.PrefixBytes), Length - start);

    private static uint Tag(int field, uint type) => ((uint)field << 3) | type;

    // A writer behind all that was written, with this much room at least.
    private ProtobufWriter MakeRoom(int bytes)
    {
        if (_buffer.Length - Length < bytes)
        {
            Array.Resize(ref _buffer, Math.Max(Math.Max(_buffer.Length * 2, LeastBytes), Length + bytes));
        }

        return new ProtobufWriter(_buffer.AsSpan(Length));
    }
}
