using System.Numerics;
using QuickSilver.Core.Buffers;

namespace QuickSilver.Endpoints.Rings;

// The memory of a buffered payload: a small buffer stays with its slot, a large one is rented for one message.
internal static class SlotBuffer
{
    private const int MaxKeptBytes = 4 << 10;
    private const int MinBytes = 64;

    public static bool Fits(byte[]? buffer, int bytes) => buffer is not null && buffer.Length >= bytes;

    public static byte[] Fit(byte[]? buffer, int bytes)
    {
        if (Fits(buffer, bytes))
        {
            return buffer!;
        }

        return bytes <= MaxKeptBytes
            ? GC.AllocateUninitializedArray<byte>((int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, MinBytes)))
            : MessageBuffers.Rent(bytes);
    }

    public static byte[]? Keep(byte[]? buffer)
    {
        if (buffer is not null && buffer.Length > MaxKeptBytes)
        {
            MessageBuffers.Return(buffer);
            return null;
        }

        return buffer;
    }
}
