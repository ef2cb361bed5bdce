using System.Buffers.Binary;
using System.Net;
using System.Text;

namespace QuickSilver.Membership.Protocol;

internal enum ProtoWireType
{
    Varint = 0,
    Fixed64 = 1,
    LengthDelimited = 2,
    Fixed32 = 5,
}

// Reads protobuf wire format out of a span and never throws: what is wrong sets Failed, after which Next is false and
// every value is its default, so a decoder runs to its end and looks at Failed once. Nothing is allocated from a length
// before that many bytes were seen to be there.
internal ref struct ProtoReader(ReadOnlySpan<byte> bytes)
{
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private ReadOnlySpan<byte> _rest = bytes;
    private ProtoWireType _type;

    public int Field { get; private set; }

    public bool Failed { get; private set; }

    /// <summary>Moves to the next field; false at the end and after a failure.</summary>
    public bool Next()
    {
        if (Failed || _rest.IsEmpty)
        {
            return false;
        }

        ulong tag = Varint();
        ulong field = tag >> 3;
        _type = (ProtoWireType)(tag & 7);
        if (field is 0 or > 0x1FFF_FFFF)
        {
            Fail();
        }

        Field = (int)field;
        return !Failed;
    }

    public void Skip()
    {
        switch (_type)
        {
            case ProtoWireType.Varint:
                Varint();
                break;
            case ProtoWireType.Fixed64:
                Take(8);
                break;
            case ProtoWireType.LengthDelimited:
                Take(Varint());
                break;
            case ProtoWireType.Fixed32:
                Take(4);
                break;
            default:
                Fail();
                break;
        }
    }

    public ulong UInt64() => Expect(ProtoWireType.Varint) ? Varint() : 0;

    public long Int64() => (long)UInt64();

    public bool Bool() => UInt64() != 0;

    public uint UInt32()
    {
        ulong value = UInt64();
        if (value > uint.MaxValue)
        {
            Fail();
            return 0;
        }

        return (uint)value;
    }

    /// <summary>A number from 0 to <paramref name="max"/>.</summary>
    public int Int32(int max)
    {
        ulong value = UInt64();
        if (value > (ulong)max)
        {
            Fail();
            return 0;
        }

        return (int)value;
    }

    public ulong Fixed64()
    {
        if (!Expect(ProtoWireType.Fixed64))
        {
            return 0;
        }

        var bytes = Take(8);
        return Failed ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(bytes);
    }

    public ReadOnlySpan<byte> Bytes() => Expect(ProtoWireType.LengthDelimited) ? Take(Varint()) : default;

    public ProtoReader Message() => new(Bytes());

    /// <summary>UTF-8 text of at most so many bytes.</summary>
    public string Text(int maxBytes)
    {
        var bytes = Bytes();
        if (bytes.Length > maxBytes)
        {
            Fail();
            return "";
        }

        return Decode(bytes);
    }

    public ulong[] PackedFixed64(int maxCount)
    {
        var bytes = Bytes();
        if (bytes.Length % 8 != 0 || bytes.Length / 8 > maxCount)
        {
            Fail();
            return [];
        }

        var values = new ulong[bytes.Length / 8];
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = BinaryPrimitives.ReadUInt64LittleEndian(bytes[(i * 8)..]);
        }

        return values;
    }

    public IPAddress Address()
    {
        var bytes = Bytes();
        if (bytes.Length is 4 or 16)
        {
            return new IPAddress(bytes);
        }

        Fail();
        return IPAddress.None;
    }

    /// <summary>Takes over the verdict of a nested reader.</summary>
    public void FailIf(bool nestedFailed)
    {
        if (nestedFailed)
        {
            Fail();
        }
    }

    public void Fail()
    {
        Failed = true;
        _rest = default;
    }

    private string Decode(ReadOnlySpan<byte> bytes)
    {
        if (System.Text.Unicode.Utf8.IsValid(bytes))
        {
            return StrictUtf8.GetString(bytes);
        }

        Fail();
        return "";
    }

    private bool Expect(ProtoWireType type)
    {
        if (_type != type)
        {
            Fail();
        }

        return !Failed;
    }

    private ulong Varint()
    {
        ulong value = 0;
        for (int i = 0; i < 10 && i < _rest.Length; i++)
        {
            byte b = _rest[i];
            value |= (ulong)(b & 0x7F) << (7 * i);
            if (b < 0x80)
            {
                _rest = _rest[(i + 1)..];
                return value;
            }
        }

        Fail();
        return 0;
    }

    private ReadOnlySpan<byte> Take(ulong count)
    {
        if (Failed || count > (ulong)_rest.Length)
        {
            Fail();
            return default;
        }

        var taken = _rest[..(int)count];
        _rest = _rest[(int)count..];
        return taken;
    }
}
