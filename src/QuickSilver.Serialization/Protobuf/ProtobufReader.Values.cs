using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Unicode;

namespace QuickSilver.Serialization.Protobuf;

// A field's value, once its tag is read.
public ref partial struct ProtobufReader
{
    /// <summary>Reads a varint.</summary>
    public ulong ReadUInt64()
    {
        var (value, bytes) = ReadVarint(Rest);
        Advance(bytes);
        return value;
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
    public byte ReadByte() => (byte)InRange(ReadInt64(), byte.MinValue, byte.MaxValue);

    /// <summary>Reads a varint that fits a signed byte.</summary>
    public sbyte ReadSByte() => (sbyte)InRange(ReadInt64(), sbyte.MinValue, sbyte.MaxValue);

    /// <summary>Reads a varint that fits 16 bits.</summary>
    public short ReadInt16() => (short)InRange(ReadInt64(), short.MinValue, short.MaxValue);

    /// <summary>Reads a varint that fits 16 bits unsigned.</summary>
    public ushort ReadUInt16() => (ushort)InRange(ReadInt64(), ushort.MinValue, ushort.MaxValue);

    /// <summary>Reads a varint that is a UTF-16 code unit.</summary>
    public char ReadChar() => (char)InRange(ReadInt64(), char.MinValue, char.MaxValue);

    /// <summary>Reads four bytes, little-endian.</summary>
    public uint ReadFixed32()
    {
        CheckLeft(sizeof(uint));
        uint value = LittleEndian.Of(Unsafe.ReadUnaligned<uint>(ref Unsafe.AsRef(in _at)));
        Advance(sizeof(uint));
        return value;
    }

    /// <summary>Reads eight bytes, little-endian.</summary>
    public ulong ReadFixed64()
    {
        CheckLeft(sizeof(ulong));
        ulong value = LittleEndian.Of(Unsafe.ReadUnaligned<ulong>(ref Unsafe.AsRef(in _at)));
        Advance(sizeof(ulong));
        return value;
    }

    /// <summary>Reads four bytes.</summary>
    public float ReadFloat() => BitConverter.UInt32BitsToSingle(ReadFixed32());

    /// <summary>Reads eight bytes.</summary>
    public double ReadDouble() => BitConverter.UInt64BitsToDouble(ReadFixed64());

    /// <summary>Reads something with a length. The result lies in the source.</summary>
    public ReadOnlySpan<byte> ReadLengthDelimited()
    {
        var (start, length) = ReadLength(Rest);
        var taken = Rest.Slice(start, length);
        Advance(start + length);
        return taken;
    }

    /// <summary>Reads bytes into an array of their own.</summary>
    public byte[] ReadBytes()
    {
        var bytes = ReadLengthDelimited();
        return bytes.IsEmpty ? [] : bytes.ToArray();
    }

    /// <summary>Reads a string, which must be valid UTF-8.</summary>
    public string ReadString() => ToText(ReadLengthDelimited());

    private static (ulong Value, int Bytes) ReadVarint(ReadOnlySpan<byte> source)
    {
        if (!source.IsEmpty && source[0] < 0x80)
        {
            return (source[0], 1);
        }

        var (value, bytes) = ReadLongVarint(ref MemoryMarshal.GetReference(source), source.Length);
        return (value, (int)bytes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (ulong Value, nint Bytes) ReadLongVarint(ref byte source, nint length)
    {
        if (length >= Varint.MaxBytes)
        {
            ulong word = LittleEndian.Of(Unsafe.ReadUnaligned<ulong>(ref source));
            uint ninth = Unsafe.Add(ref source, 8);
            uint tenth = Unsafe.Add(ref source, 9);
            if ((word & Varint.ContinueBits) == Varint.ContinueBits && (ninth < 0x80 || tenth < 0x80))
            {
                ulong top = ninth < 0x80 ? ninth : (ninth & 0x7F) | (tenth << 7);
                return (Varint.Gather(word) | (top << 56), ninth < 0x80 ? 9 : 10);
            }
        }

        ulong value = 0;
        for (int i = 0; i < Varint.MaxBytes; i++)
        {
            if (i >= length)
            {
                ThrowTruncated();
            }

            byte next = Unsafe.Add(ref source, i);
            value |= (ulong)(next & 0x7F) << (7 * i);
            if (next < 0x80)
            {
                return (value, i + 1);
            }
        }

        ThrowMalformed("a varint has more than ten bytes");
        return default;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (int Start, int Length) ReadLength(ReadOnlySpan<byte> source)
    {
        var (length, bytes) = ReadVarint(source);
        if (length > (ulong)(source.Length - bytes))
        {
            ThrowTruncated();
        }

        return (bytes, (int)length);
    }

    /// <summary>A string of valid UTF-8.</summary>
    public static string ToText(ReadOnlySpan<byte> bytes)
    {
        if (!Utf8.IsValid(bytes))
        {
            ThrowMalformed("a string is not valid UTF-8");
        }

        return Encoding.UTF8.GetString(bytes);
    }

    internal static long InRange(long value, long min, long max)
    {
        if (value < min || value > max)
        {
            ThrowMalformed($"{value} is not in the range {min} to {max}");
        }

        return value;
    }

    private readonly void CheckLeft(int bytes)
    {
        if (bytes > _left)
        {
            ThrowTruncated();
        }
    }
}
