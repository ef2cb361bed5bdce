using System.Runtime.CompilerServices;

namespace QuickSilver.Serialization.Protobuf;

// A packed value: no tag before it.
public ref partial struct ProtobufWriter
{
    /// <summary>Writes a varint without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(ulong value) =>
        Advance(WriteVarint(ref _at, _left, value));

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(uint value) => WriteUInt64((ulong)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt64(long value) => WriteUInt64((ulong)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteInt32(int value) => WriteUInt64((ulong)(long)value);

    /// <inheritdoc cref="WriteUInt64(ulong)"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteBool(bool value) => WriteUInt64(value ? 1UL : 0UL);

    /// <summary>Writes four bytes without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteFloat(float value) => Advance(WriteFixed(
        ref _at, _left, BitConverter.SingleToUInt32Bits(value), sizeof(float)));

    /// <summary>Writes eight bytes without a tag: a packed value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteDouble(double value) => Advance(WriteFixed(
        ref _at, _left, BitConverter.DoubleToUInt64Bits(value), sizeof(double)));

    // Generated codecs pack no integers of fixed width; control messages do.
    internal void WriteFixed64(ulong value) => Advance(WriteFixed(ref _at, _left, value, sizeof(ulong)));
}
