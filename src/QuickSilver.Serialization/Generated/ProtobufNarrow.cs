using System.ComponentModel;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Generated;

/// <summary>Varints as the .NET numbers that are narrower than protobuf's: what does not fit is malformed.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ProtobufNarrow
{
    /// <summary>What fits a byte.</summary>
    public static byte ToByte(ulong value) => (byte)ProtobufReader.InRange((long)value, byte.MinValue, byte.MaxValue);

    /// <summary>What fits a signed byte.</summary>
    public static sbyte ToSByte(ulong value) => (sbyte)ProtobufReader.InRange((long)value, sbyte.MinValue, sbyte.MaxValue);

    /// <summary>What fits 16 bits.</summary>
    public static short ToInt16(ulong value) => (short)ProtobufReader.InRange((long)value, short.MinValue, short.MaxValue);

    /// <summary>What fits 16 bits unsigned.</summary>
    public static ushort ToUInt16(ulong value) => (ushort)ProtobufReader.InRange((long)value, ushort.MinValue, ushort.MaxValue);

    /// <summary>A UTF-16 code unit.</summary>
    public static char ToChar(ulong value) => (char)ProtobufReader.InRange((long)value, char.MinValue, char.MaxValue);
}
