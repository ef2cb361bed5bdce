using System.ComponentModel;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Text;
using System.Text.Unicode;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>
/// Reads protobuf from a span of untrusted bytes. Every length is checked against the bytes at hand before anything is
/// allocated or skipped, nesting is bounded, and whatever is wrong throws <see cref="PayloadFormatException"/> alone.
/// A nested message is read by a reader of its own, which sees nothing but that message.
/// </summary>
/// <remarks>
/// Most messages hold their fields in the order of their numbers. So a codec first tries each of them once (the methods that
/// take a tag), which costs a comparison where it is missing, and reads what then remains by its tags, on a copy. A reader whose
/// address nobody takes is kept in registers: so what is inlined into codecs calls static methods alone, and is itself without
/// calls to be inlined, of which the compiler would take too many for a large message.
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public ref struct ProtobufReader
{
    // Those of one or two bytes.
    private const uint TriedTags = 1 << 14;

    private readonly int _depth;
    private ref readonly byte _at;
    private nint _left;

    /// <summary>Reads a message that is exactly <paramref name="source"/>.</summary>
    public ProtobufReader(ReadOnlySpan<byte> source)
        : this(source, 0)
    {
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ProtobufReader(ReadOnlySpan<byte> source, int depth)
    {
        _at = ref MemoryMarshal.GetReference(source);
        _left = source.Length;
        _depth = depth;
    }

    /// <summary>Whether all was read.</summary>
    public readonly bool IsAtEnd => _left <= 0;

    private readonly ReadOnlySpan<byte> Rest => MemoryMarshal.CreateReadOnlySpan(in _at, (int)_left);

    /// <summary>Reads the next field's tag.</summary>
    /// <returns>False at the end of the message.</returns>
    public bool TryReadTag(out uint tag)
    {
        if (IsAtEnd)
        {
            tag = 0;
            return false;
        }

        var (value, bytes) = ReadTag(Rest);
        Advance(bytes);
        tag = value;
        return true;
    }

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

    /// <summary>A reader of the nested message that follows.</summary>
    public ProtobufReader ReadMessage()
    {
        CheckDepth(_depth + 1);
        return new ProtobufReader(ReadLengthDelimited(), _depth + 1);
    }

    /// <summary>A reader of a nested message that was read as bytes.</summary>
    public readonly ProtobufReader Enter(ReadOnlySpan<byte> message)
    {
        CheckDepth(_depth + 1);
        return new ProtobufReader(message, _depth + 1);
    }

    /// <summary>A reader of the packed values or of the map entry that follow; not a level of nesting.</summary>
    public ProtobufReader ReadPacked() => new(ReadLengthDelimited(), _depth);

    /// <summary>Skips an unknown field, given its tag.</summary>
    public void Skip(uint tag) => Advance(Skip(Rest, tag, _depth));

    /// <summary>
    /// How many fields with this tag stand in a row, the one whose tag was just read included: lets a collection be made
    /// in its final size. Never more than half the bytes at hand.
    /// </summary>
    public readonly int CountRepeats(uint tag) => CountRepeats(Rest, tag, _depth);

    /// <summary>How many varints are left, when there is nothing else.</summary>
    public readonly int CountVarints()
    {
        int count = 0;
        foreach (byte next in Rest)
        {
            count += next < 0x80 ? 1 : 0;
        }

        return count;
    }

    /// <summary>How many values of this width are left, when there is nothing else.</summary>
    public readonly int CountFixed(int width) => (int)_left / width;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int Skip(ReadOnlySpan<byte> source, uint tag, int depth)
    {
        var reader = new ProtobufReader(source, depth);
        switch (tag & 7)
        {
            case ProtobufWireType.Varint:
                reader.ReadUInt64();
                break;
            case ProtobufWireType.Fixed64:
                reader.ReadFixed64();
                break;
            case ProtobufWireType.LengthDelimited:
                reader.ReadLengthDelimited();
                break;
            case ProtobufWireType.Fixed32:
                reader.ReadFixed32();
                break;
            case ProtobufWireType.StartGroup:
                return SkipGroup(source, tag, depth + 1);
            case ProtobufWireType.EndGroup:
                ThrowMalformed("a group ends that did not begin");
                break;
            default:
                ThrowMalformed("a field has an unknown wire type");
                break;
        }

        return source.Length - (int)reader._left;
    }

    private static int SkipGroup(ReadOnlySpan<byte> source, uint startTag, int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"groups nest deeper than {ProtobufLimits.MaxDepth}");
        }

        var reader = new ProtobufReader(source, depth);
        uint endTag = startTag + 1;
        while (reader.TryReadTag(out uint tag))
        {
            if (tag == endTag)
            {
                return source.Length - (int)reader._left;
            }

            reader.Skip(tag);
        }

        ThrowTruncated();
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int CountRepeats(ReadOnlySpan<byte> source, uint tag, int depth)
    {
        var ahead = new ProtobufReader(source, depth);
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (uint Tag, int Bytes) ReadTag(ReadOnlySpan<byte> source)
    {
        var (value, bytes) = ReadVarint(source);
        if (value > uint.MaxValue || value < 8)
        {
            ThrowMalformed("a field has no valid number");
        }

        return ((uint)value, bytes);
    }

    private static (ulong Value, int Bytes) ReadVarint(ReadOnlySpan<byte> source)
    {
        if (!source.IsEmpty && source[0] < 0x80)
        {
            return (source[0], 1);
        }

        var (value, bytes) = ReadLongVarint(ref MemoryMarshal.GetReference(source), source.Length);
        return (value, (int)bytes);
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
            ThrowMalformed($"{value} is not within {min} to {max}");
        }

        return value;
    }

    private static void CheckDepth(int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            ThrowMalformed($"messages nest deeper than {ProtobufLimits.MaxDepth}");
        }
    }

    private void Advance(int bytes)
    {
        _at = ref Unsafe.Add(ref Unsafe.AsRef(in _at), bytes);
        _left -= bytes;
    }

    private readonly void CheckLeft(int bytes)
    {
        if (bytes > _left)
        {
            ThrowTruncated();
        }
    }

    [DoesNotReturn]
    private static void ThrowTruncated() => throw new PayloadFormatException("The payload ends in the middle of a field.");

    [DoesNotReturn]
    internal static void ThrowMalformed(string what) => throw new PayloadFormatException($"The payload is malformed: {what}.");
}
