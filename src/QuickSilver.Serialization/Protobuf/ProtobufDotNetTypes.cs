using System.Buffers.Binary;
using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using QuickSilver.Serialization.Protobuf.Times;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>
/// The .NET types that protobuf has no word for, encoded as protobuf-net does by default (its bcl.proto), each a small nested
/// message: decimal {uint64 lo = 1; uint32 hi = 2; uint32 signScale = 3}, Guid {fixed64 lo = 1; fixed64 hi = 2},
/// TimeSpan and DateTime {sint64 value = 1; scale = 2; kind = 3}, where DateTime counts from 1970-01-01 and its kind is read
/// but, as protobuf-net does by default, not written. protobuf-net has no DateTimeOffset; here it is the DateTime of
/// the same instant in UTC with {sint32 offsetMinutes = 4} besides, so that a reader of DateTime still gets the instant. It has no
/// Int128 and UInt128 either; here they are 16 bytes, the lowest first.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ProtobufDotNetTypes
{
    private const uint DecimalLowTag = (1 << 3) | ProtobufWireType.Varint;
    private const uint DecimalHighTag = (2 << 3) | ProtobufWireType.Varint;
    private const uint DecimalSignScaleTag = (3 << 3) | ProtobufWireType.Varint;
    private const uint GuidLowTag = (1 << 3) | ProtobufWireType.Fixed64;

    /// <summary>The tag of a Guid's second half.</summary>
    internal const uint GuidHighTag = (2 << 3) | ProtobufWireType.Fixed64;

    /// <summary>A Guid that is not empty, without its length.</summary>
    internal const int GuidBytes = 1 + 8 + 1 + 8;

    /// <summary>An Int128 without its length.</summary>
    internal const int Int128Bytes = 16;

    /// <summary>How it begins: its length, and the tag of its first half.</summary>
    internal const ushort GuidStart = (ushort)(GuidBytes | (GuidLowTag << 8));

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(decimal value)
    {
        var (low, high, signScale) = Split(value);
        int size = low == 0 ? 0 : 1 + ProtobufSize.UInt64(low);
        size += high == 0 ? 0 : 1 + ProtobufSize.UInt32(high);
        size += signScale == 0 ? 0 : 1 + ProtobufSize.UInt32(signScale);
        return 1 + size;
    }

    /// <summary>Reads a decimal.</summary>
    public static decimal ReadDecimal(ReadOnlySpan<byte> source)
    {
        var reader = new ProtobufReader(source);
        ulong low = 0;
        uint high = 0;
        uint signScale = 0;
        while (reader.TryReadTag(out uint tag))
        {
            switch (tag)
            {
                case DecimalLowTag:
                    low = reader.ReadUInt64();
                    break;
                case DecimalHighTag:
                    high = reader.ReadUInt32();
                    break;
                case DecimalSignScaleTag:
                    signScale = reader.ReadUInt32();
                    break;
                default:
                    reader.Skip(tag);
                    break;
            }
        }

        byte scale = (byte)(signScale >> 1);
        if (scale > 28)
        {
            ProtobufReader.ThrowMalformed($"a decimal has the scale {scale}; the limit is 28");
        }

        return new decimal((int)low, (int)(low >> 32), (int)high, (signScale & 1) != 0, scale);
    }

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(Guid value) => value == Guid.Empty ? 1 : 1 + GuidBytes;

    /// <summary>Reads a Guid.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Guid ReadGuid(ReadOnlySpan<byte> source)
    {
        var reader = new ProtobufReader(source);
        ulong low = 0;
        ulong high = 0;
        while (reader.TryReadTag(out uint tag))
        {
            switch (tag)
            {
                case GuidLowTag:
                    low = reader.ReadFixed64();
                    break;
                case GuidHighTag:
                    high = reader.ReadFixed64();
                    break;
                default:
                    reader.Skip(tag);
                    break;
            }
        }

        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, low);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], high);
        return new Guid(bytes);
    }

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(TimeSpan value) => ScaledTicks.Of(value).Size;

    /// <summary>Reads a TimeSpan.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static TimeSpan ReadTimeSpan(ReadOnlySpan<byte> source) => ScaledTicks.Read(source).ToTimeSpan();

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(DateTime value) => ScaledTicks.Of(value).Size;

    /// <summary>Reads a DateTime.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static DateTime ReadDateTime(ReadOnlySpan<byte> source) =>
        ScaledTicks.TryReadUsual(source, out var value) ? value : ReadUnusualDateTime(source);

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(DateTimeOffset value) => ScaledTicks.Of(value).Size;

    /// <summary>Reads a DateTimeOffset.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static DateTimeOffset ReadDateTimeOffset(ReadOnlySpan<byte> source) => ScaledTicks.Read(source).ToDateTimeOffset();

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(Int128 value) => 1 + Int128Bytes;

    /// <summary>Reads an Int128.</summary>
    public static Int128 ReadInt128(ReadOnlySpan<byte> source) => (Int128)ReadUInt128(source);

    /// <summary>Bytes with their length.</summary>
    public static int SizeOf(UInt128 value) => 1 + Int128Bytes;

    /// <summary>Reads a UInt128.</summary>
    public static UInt128 ReadUInt128(ReadOnlySpan<byte> source)
    {
        if (source.Length != Int128Bytes)
        {
            ProtobufReader.ThrowMalformed($"a number of 128 bits has {source.Length} bytes instead of {Int128Bytes}");
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(source);
    }

    // Apart, for the room that it takes on the stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static DateTime ReadUnusualDateTime(ReadOnlySpan<byte> source) => ScaledTicks.Read(source).ToDateTime();

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static nint Write(ref byte destination, nint room, uint tag, decimal value)
    {
        var (low, high, signScale) = Split(value);
        var writer = new ProtobufWriter(MemoryMarshal.CreateSpan(ref destination, (int)room));
        int start = writer.BeginLength(tag);
        if (low != 0)
        {
            writer.WriteUInt64(DecimalLowTag, low);
        }

        if (high != 0)
        {
            writer.WriteUInt32(DecimalHighTag, high);
        }

        if (signScale != 0)
        {
            writer.WriteUInt32(DecimalSignScaleTag, signScale);
        }

        writer.EndLength(start);
        return writer.Written;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static nint Write(ref byte destination, nint room, uint tag, Guid value)
    {
        var writer = new ProtobufWriter(MemoryMarshal.CreateSpan(ref destination, (int)room));
        int start = writer.BeginLength(tag);
        if (value != Guid.Empty)
        {
            Span<byte> bytes = stackalloc byte[16];
            value.TryWriteBytes(bytes);
            writer.WriteFixed64(GuidLowTag, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
            writer.WriteFixed64(GuidHighTag, BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
        }

        writer.EndLength(start);
        return writer.Written;
    }

    private static (ulong Low, uint High, uint SignScale) Split(decimal value)
    {
        Span<int> bits = stackalloc int[4];
        decimal.GetBits(value, bits);
        ulong low = ((ulong)(uint)bits[1] << 32) | (uint)bits[0];
        uint flags = (uint)bits[3];
        return (low, (uint)bits[2], ((flags >> 15) & 0x01FE) | (flags >> 31));
    }
}
