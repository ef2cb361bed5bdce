using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Fuzz.Payloads;

internal static class Codecs
{
    public static IPayloadCodec<T> Of<T>() => GeneratedCodecs.TryGet<T>(out var codec)
        ? codec
        : throw new InvalidOperationException($"{typeof(T)} has no codec.");

    /// <summary>Writes into as much room as the codec asks for.</summary>
    public static byte[] Write<T>(IPayloadCodec<T> codec, T value)
    {
        byte[] bytes = new byte[codec.GetSize(value)];
        int written = codec.Write(value, bytes);
        FindingException.ThrowUnless(
            written == bytes.Length, $"{codec.GetType().Name} says {bytes.Length} bytes and writes {written}.");
        return bytes;
    }

    /// <summary>What was read can be written, and what was written can be read and is the same.</summary>
    public static void SameAgain<T>(IPayloadCodec<T> codec, T value)
    {
        byte[] once = Write(codec, value);
        T again;
        try
        {
            again = codec.Read(once);
        }
        catch (PayloadFormatException refused)
        {
            throw new FindingException($"{codec.GetType().Name} cannot read what it has read and written: {refused.Message}");
        }

        FindingException.ThrowUnless(
            once.AsSpan().SequenceEqual(Write(codec, again)), $"{codec.GetType().Name} reads another value than was written.");
    }
}
