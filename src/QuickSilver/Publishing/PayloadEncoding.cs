using System.Diagnostics.CodeAnalysis;
using QuickSilver.Serialization;

namespace QuickSilver.Publishing;

// What a codec says of its payload, checked: codecs are the user's.
internal static class PayloadEncoding<T>
{
    /// <summary>A codec that says it wrote more than it was given would make the core thread read what is not the message's.</summary>
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
