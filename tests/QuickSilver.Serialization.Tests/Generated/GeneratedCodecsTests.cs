using QuickSilver.Serialization.Generated;

namespace QuickSilver.Serialization.Tests.Generated;

public sealed class GeneratedCodecsTests
{
    private static T RoundTrip<T>(T value)
    {
        Assert.True(GeneratedCodecs.TryGet<T>(out var codec));
        byte[] bytes = new byte[codec.GetSize(value)];
        Assert.Equal(bytes.Length, codec.Write(value, bytes));
        return codec.Read(bytes);
    }

    [Fact]
    public void Bytes_and_text_have_codecs_without_a_contract()
    {
        Assert.Equal([1, 2, 3], RoundTrip<byte[]>([1, 2, 3]));
        Assert.Equal([1, 2, 3], RoundTrip<ReadOnlyMemory<byte>>(new byte[] { 1, 2, 3 }).ToArray());
        Assert.Equal("flüge", RoundTrip("flüge"));
    }

    [Fact]
    public void Text_that_is_not_UTF_8_is_malformed()
    {
        Assert.True(GeneratedCodecs.TryGet<string>(out var codec));
        Assert.Throws<PayloadFormatException>(() => codec.Read([0xC3]));
    }

    [Fact]
    public void A_type_without_a_contract_has_no_codec() => Assert.False(GeneratedCodecs.TryGet<Version>(out _));

    [Fact]
    public void A_type_keeps_its_first_codec()
    {
        GeneratedCodecs.Register(new UriCodec());
        Assert.True(GeneratedCodecs.TryGet<Uri>(out var codec));
        Assert.IsType<UriCodec>(codec);
        var refused = Assert.Throws<InvalidOperationException>(() => GeneratedCodecs.Register(new UriCodec()));
        Assert.Contains($"{typeof(Uri)} already has the codec", refused.Message, StringComparison.Ordinal);
    }

    private sealed class UriCodec : IPayloadCodec<Uri>
    {
        public PayloadSchema Schema { get; } = new("Uri", PayloadSchema.StringKind, []);

        public int GetSize(in Uri value) => 0;

        public int Write(in Uri value, Span<byte> destination) => 0;

        public Uri Read(ReadOnlySpan<byte> source) => new("qs:nothing");
    }
}
