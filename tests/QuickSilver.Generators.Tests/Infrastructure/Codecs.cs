using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Generators.Tests.Infrastructure;

internal static class Codecs
{
    public static IPayloadCodec<T> Of<T>()
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec), $"{typeof(T)} has no codec");
        return codec!;
    }

    // Encodes into exactly the room that GetSize asks for, so that a size that is wrong cannot pass.
    public static byte[] Encode<T>(T value)
    {
        var codec = Of<T>();
        var bytes = new byte[codec.GetSize(in value)];
        Assert.Equal(bytes.Length, codec.Write(in value, bytes));
        return bytes;
    }

    public static T Decode<T>(ReadOnlySpan<byte> bytes) => Of<T>().Read(bytes);
}
