using System.Buffers.Binary;
using QuickSilver.Serialization;

namespace QuickSilver.Tool.Perf;

// What a measured message of a group says: when it was sent, which of its sender it is, and whether it is the last one.
internal readonly record struct GroupStamp(long SentAtTicks, long Number, bool IsLast);

// A stamp, and zeros up to the size of the messages.
internal sealed class GroupStampCodec(int size) : IPayloadCodec<GroupStamp>
{
    public const int LeastBytes = 17;

    public PayloadSchema Schema { get; } = new("bytes", PayloadSchema.BytesKind, []);

    public int GetSize(in GroupStamp value) => size;

    public int Write(in GroupStamp value, Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, value.SentAtTicks);
        BinaryPrimitives.WriteInt64LittleEndian(destination[8..], value.Number);
        destination[16] = (byte)(value.IsLast ? 1 : 0);
        destination[LeastBytes..size].Clear();
        return size;
    }

    public GroupStamp Read(ReadOnlySpan<byte> source) => source.Length < LeastBytes
        ? throw new PayloadFormatException("The message is not of this measurement.")
        : new GroupStamp(
            BinaryPrimitives.ReadInt64LittleEndian(source), BinaryPrimitives.ReadInt64LittleEndian(source[8..]), source[16] != 0);
}
