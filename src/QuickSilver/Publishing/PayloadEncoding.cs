using System.Diagnostics.CodeAnalysis;
using QuickSilver.Serialization;

namespace QuickSilver.Publishing;

// Checks the sizes that a codec returns, because applications write codecs.
internal static class PayloadEncoding<T>
{
    /// <summary>
    /// Encodes a value. If a codec returned more bytes than it was given, the core thread would read bytes of other messages.
    /// </summary>
    public static int Write(IPayloadCodec<T> codec, in T value, Span<byte> destination)
    {
        int written = codec.Write(value, destination);
        if ((uint)written > (uint)destination.Length)
        {
            ThrowTooMuchWritten(codec, written, destination.Length);
        }

        return written;
    }

    public static int CheckSize(IPayloadCodec<T> codec, int size) => size >= 0
        ? size
        : throw new InvalidOperationException($"GetSize of the codec {codec.GetType()} returned {size}. It must return 0 or more.");

    [DoesNotReturn]
    private static void ThrowTooMuchWritten(IPayloadCodec<T> codec, int written, int room) => throw new InvalidOperationException(
        $"Write of the codec {codec.GetType()} returned {written} bytes, but its GetSize returned {room}.");
}
