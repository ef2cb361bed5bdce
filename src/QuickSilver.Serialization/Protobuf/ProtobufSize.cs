using System.ComponentModel;
using System.Numerics;
using System.Text;

namespace QuickSilver.Serialization.Protobuf;

/// <summary>How many bytes values take on the wire, tags not counted.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ProtobufSize
{
    /// <summary>Bytes of a varint: seven bits each.</summary>
    public static int UInt64(ulong value) => (int)((((uint)BitOperations.Log2(value | 1) * 9) + 73) / 64);

    /// <inheritdoc cref="UInt64"/>
    public static int UInt32(uint value) => (int)((((uint)BitOperations.Log2(value | 1) * 9) + 73) / 64);

    /// <summary>Bytes of a signed varint; a negative one takes ten, as protobuf sign-extends it.</summary>
    public static int Int64(long value) => UInt64((ulong)value);

    /// <inheritdoc cref="Int64"/>
    public static int Int32(int value) => UInt64((ulong)(long)value);

    /// <summary>Bytes of a zigzag varint.</summary>
    public static int SInt64(long value) => UInt64(ZigZag(value));

    /// <summary>Bytes of a length and of what has that length.</summary>
    public static int LengthDelimited(int length) => checked(UInt32((uint)length) + length);

    /// <summary>Bytes of a string with its length.</summary>
    public static int String(string value) => LengthDelimited(Encoding.UTF8.GetByteCount(value));

    internal static ulong ZigZag(long value) => (ulong)((value << 1) ^ (value >> 63));

    internal static long UnZigZag(ulong value) => (long)(value >> 1) ^ -(long)(value & 1);
}
