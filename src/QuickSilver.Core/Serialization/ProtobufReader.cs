using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Unicode;

namespace QuickSilver.Core.Serialization;

/// <summary>
/// Reads protobuf from a span of untrusted bytes. Every length is checked against the bytes at hand before anything is
/// allocated or skipped, nesting is bounded, and whatever is wrong throws <see cref="PayloadFormatException"/> alone.
/// A nested message is read by a reader of its own, which sees nothing but that message.
/// </summary>
public ref struct ProtobufReader
{
    private readonly ReadOnlySpan<byte> _source;
    private readonly int _depth;
    private int _position;

    /// <summary>Reads a message that is exactly <paramref name="source"/>.</summary>
    public ProtobufReader(ReadOnlySpan<byte> source)
        : this(source, 0)
    {
    }

    private ProtobufReader(ReadOnlySpan<byte> source, int depth)
    {
        _source = source;
        _depth = depth;
    }

    /// <summary>Whether all was read.</summary>
    public readonly bool IsAtEnd => _position >= _source.Length;

    /// <summary>Reads the next field's tag.</summary>
    /// <returns>False at the end of the message.</returns>
    public bool TryReadTag(out uint tag)
    {
        if (IsAtEnd)
        {
            tag = 0;
            return false;
        }

        ulong value = ReadUInt64();
        if (value > uint.MaxValue || value < 8)
        {
            ThrowMalformed("a field has no valid number");
        }

        tag = (uint)value;
        return true;
    }

    /// <summary>Reads a varint.</summary>
    public ulong ReadUInt64()
    {
        ulong value = 0;
        for (int shift = 0; shift < 70; shift += 7)
        {
            if (IsAtEnd)
            {
                ThrowTruncated();
            }

            byte next = _source[_position++];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return value;
            }
        }

        ThrowMalformed("a varint has more than ten bytes");
        return 0;
    }

    /// <summary>Reads a varint; bits beyond 32 are dropped, as protobuf says.</summary>
    public uint ReadUInt32() => (uint)ReadUInt64();

    /// <summary>Reads a varint.</summary>
    public long ReadInt64() => (long)ReadUInt64();

    /// <summary>Reads a varint; bits beyond 32 are dropped, as protobuf says.</summary>
    public int ReadInt32() => (int)ReadUInt64();

    /// <summary>Reads a zigzag varint.</summary>
    public long ReadSInt64() => ProtobufSize.UnZigZag(ReadUInt64());

    /// <summary>Reads a varint that is true unless 0.</summary>
    public bool ReadBool() => ReadUInt64() != 0;

    /// <summary>Reads a varint that fits a byte.</summary>
    public byte ReadByte() => (byte)ReadInRange(byte.MinValue, byte.MaxValue);

    /// <summary>Reads a varint that fits a signed byte.</summary>
    public sbyte ReadSByte() => (sbyte)ReadInRange(sbyte.MinValue, sbyte.MaxValue);

    /// <summary>Reads a varint that fits 16 bits.</summary>
    public short ReadInt16() => (short)ReadInRange(short.MinValue, short.MaxValue);

    /// <summary>Reads a varint that fits 16 bits unsigned.</summary>
    public ushort ReadUInt16() => (ushort)ReadInRange(ushort.MinValue, ushort.MaxValue);

    /// <summary>Reads a varint that is a UTF-16 code unit.</summary>
    public char ReadChar() => (char)ReadInRange(char.MinValue, char.MaxValue);

    /// <summary>Reads four bytes, little-endian.</summary>
    public uint ReadFixed32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(sizeof(uint)));

    /// <summary>Reads eight bytes, little-endian.</summary>
    public ulong ReadFixed64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(sizeof(ulong)));

    /// <summary>Reads four bytes.</summary>
    public float ReadFloat() => BitConverter.UInt32BitsToSingle(ReadFixed32());

    /// <summary>Reads eight bytes.</summary>
    public double ReadDouble() => BitConverter.UInt64BitsToDouble(ReadFixed64());

    /// <summary>Reads something with a length. The result lies in the source.</summary>
    public ReadOnlySpan<byte> ReadLengthDelimited()
    {
        ulong length = ReadUInt64();
        if (length > (ulong)(_source.Length - _position))
        {
            ThrowTruncated();
        }

        return Take((int)length);
    }

    /// <summary>Reads bytes into an array of their own.</summary>
    public byte[] ReadBytes()
    {
        var bytes = ReadLengthDelimited();
        return bytes.IsEmpty ? [] : bytes.ToArray();
    }

    /// <summary>Reads a string, which must be valid UTF-8.</summary>
    public string ReadString()
    {
        var bytes = ReadLengthDelimited();
        if (!Utf8.IsValid(bytes))
        {
            ThrowMalformed("a string is not valid UTF-8");
        }

        return Encoding.UTF8.GetString(bytes);
    }

    /// <summary>A reader of the nested message that follows.</summary>
    public ProtobufReader ReadMessage()
    {
        if (_depth >= ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"messages nest deeper than {ProtobufLimits.MaxDepth}");
        }

        return new ProtobufReader(ReadLengthDelimited(), _depth + 1);
    }

    /// <summary>A reader of the packed values or of the map entry that follow; not a level of nesting.</summary>
    public ProtobufReader ReadPacked() => new(ReadLengthDelimited(), _depth);

    /// <summary>Skips an unknown field, given its tag.</summary>
    public void Skip(uint tag) => Skip(tag, _depth);

    private void Skip(uint tag, int depth)
    {
        switch (tag & 7)
        {
            case ProtobufWireType.Varint:
                ReadUInt64();
                break;
            case ProtobufWireType.Fixed64:
                Take(sizeof(ulong));
                break;
            case ProtobufWireType.LengthDelimited:
                ReadLengthDelimited();
                break;
            case ProtobufWireType.Fixed32:
                Take(sizeof(uint));
                break;
            case ProtobufWireType.StartGroup:
                SkipGroup(tag, depth + 1);
                break;
            case ProtobufWireType.EndGroup:
                ThrowMalformed("a group ends that did not begin");
                break;
            default:
                ThrowMalformed("a field has an unknown wire type");
                break;
        }
    }

    private void SkipGroup(uint startTag, int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"groups nest deeper than {ProtobufLimits.MaxDepth}");
        }

        uint endTag = startTag + 1;
        while (TryReadTag(out uint tag))
        {
            if (tag == endTag)
            {
                return;
            }

            Skip(tag, depth);
        }

        ThrowTruncated();
    }

    /// <summary>
    /// How many fields with this tag stand in a row, the one whose tag was just read included: lets a collection be made
    /// in its final size. Never more than half the bytes at hand.
    /// </summary>
    public readonly int CountRepeats(uint tag)
    {
        var ahead = this;
        int count = 0;
        uint next;
        do
        {
            ahead.Skip(tag);
            count++;
        }
        while (ahead.TryReadTag(out next) && next == tag);
        return count;
    }

    /// <summary>How many varints are left, when there is nothing else.</summary>
    public readonly int CountVarints()
    {
        int count = 0;
        foreach (byte next in _source[_position..])
        {
            count += next < 0x80 ? 1 : 0;
        }

        return count;
    }

    /// <summary>How many values of this width are left, when there is nothing else.</summary>
    public readonly int CountFixed(int width) => (_source.Length - _position) / width;

    private long ReadInRange(long min, long max)
    {
        long value = ReadInt64();
        if (value < min || value > max)
        {
            ThrowMalformed($"{value} is not within {min} to {max}");
        }

        return value;
    }

    private ReadOnlySpan<byte> Take(int count)
    {
        if (count > _source.Length - _position)
        {
            ThrowTruncated();
        }

        var taken = _source.Slice(_position, count);
        _position += count;
        return taken;
    }

    [DoesNotReturn]
    private static void ThrowTruncated() => throw new PayloadFormatException("The payload ends in the middle of a field.");

    [DoesNotReturn]
    internal static void ThrowMalformed(string what) => throw new PayloadFormatException($"The payload is malformed: {what}.");
}
