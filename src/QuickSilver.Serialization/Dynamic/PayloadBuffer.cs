using System.Text;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Dynamic;

// Bytes of a message that grows while its fields are written. The number 0 writes a value without its tag, as packed values are.
internal sealed class PayloadBuffer
{
    private const int LeastBytes = 64;
    // A tag, a length, and the longest value without a length of its own, a decimal.
    private const int FieldBytes = 5 + 5 + 24;

    private byte[] _bytes = [];
    private int _length;

    public byte[] ToArray() => _bytes.AsSpan(0, _length).ToArray();

    public void Varint(int number, ulong value)
    {
        var writer = Room();
        if (number == 0)
        {
            writer.WriteUInt64(value);
        }
        else
        {
            writer.WriteUInt64(Tag(number, ProtobufWireType.Varint), value);
        }

        _length += writer.Written;
    }

    public void Fixed32(int number, uint value)
    {
        var writer = Room();
        if (number == 0)
        {
            writer.WriteFloat(BitConverter.UInt32BitsToSingle(value));
        }
        else
        {
            writer.WriteFixed32(Tag(number, ProtobufWireType.Fixed32), value);
        }

        _length += writer.Written;
    }

    public void Fixed64(int number, ulong value)
    {
        var writer = Room();
        if (number == 0)
        {
            writer.WriteFixed64(value);
        }
        else
        {
            writer.WriteFixed64(Tag(number, ProtobufWireType.Fixed64), value);
        }

        _length += writer.Written;
    }

    public void Bytes(int number, ReadOnlySpan<byte> value)
    {
        var writer = Room(value.Length);
        writer.WriteBytes(LengthTag(number), value);
        _length += writer.Written;
    }

    public void String(int number, string value) => Bytes(number, Encoding.UTF8.GetBytes(value));

    public void Decimal(int number, decimal value)
    {
        var writer = Room();
        writer.WriteDecimal(LengthTag(number), value);
        _length += writer.Written;
    }

    public void Guid(int number, Guid value)
    {
        var writer = Room();
        writer.WriteGuid(LengthTag(number), value);
        _length += writer.Written;
    }

    public void DateTime(int number, DateTime value)
    {
        var writer = Room();
        writer.WriteDateTime(LengthTag(number), value);
        _length += writer.Written;
    }

    public void DateTimeOffset(int number, DateTimeOffset value)
    {
        var writer = Room();
        writer.WriteDateTimeOffset(LengthTag(number), value);
        _length += writer.Written;
    }

    public void TimeSpan(int number, TimeSpan value)
    {
        var writer = Room();
        writer.WriteTimeSpan(LengthTag(number), value);
        _length += writer.Written;
    }

    public void UInt128(int number, UInt128 value)
    {
        var writer = Room();
        writer.WriteUInt128(LengthTag(number), value);
        _length += writer.Written;
    }

    private static uint Tag(int number, uint wireType) => ((uint)number << 3) | wireType;

    private static uint LengthTag(int number) => Tag(number, ProtobufWireType.LengthDelimited);

    private ProtobufWriter Room(int bytes = 0)
    {
        int needed = checked(_length + bytes + FieldBytes);
        if (_bytes.Length < needed)
        {
            Array.Resize(ref _bytes, Math.Max(Math.Max(LeastBytes, _bytes.Length * 2), needed));
        }

        return new ProtobufWriter(_bytes.AsSpan(_length));
    }
}
