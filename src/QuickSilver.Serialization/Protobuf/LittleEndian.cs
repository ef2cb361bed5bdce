using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace QuickSilver.Serialization.Protobuf;

// A number as it lies on the wire, and back: the same, but for big-endian machines.
internal static class LittleEndian
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ushort Of(ushort value) => BitConverter.IsLittleEndian ? value : BinaryPrimitives.ReverseEndianness(value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Of(uint value) => BitConverter.IsLittleEndian ? value : BinaryPrimitives.ReverseEndianness(value);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Of(ulong value) => BitConverter.IsLittleEndian ? value : BinaryPrimitives.ReverseEndianness(value);
}
