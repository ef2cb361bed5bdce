using System.Text;
using System.Text.Unicode;

namespace QuickSilver.Serialization;

// Payloads that need no schema: the bytes are the payload.
internal sealed class ByteArrayCodec : IPayloadCodec<byte[]>
{
    public PayloadSchema Schema { get; } = new("bytes", PayloadSchema.BytesKind, []);

    public int GetSize(in byte[] value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return value.Length;
    }

    public int Write(in byte[] value, Span<byte> destination)
    {
        value.CopyTo(destination);
        return value.Length;
    }

    public byte[] Read(ReadOnlySpan<byte> source) => source.ToArray();
}

internal sealed class MemoryCodec : IPayloadCodec<ReadOnlyMemory<byte>>
{
    public PayloadSchema Schema { get; } = new("bytes", PayloadSchema.BytesKind, []);

    public int GetSize(in ReadOnlyMemory<byte> value) => value.Length;

    public int Write(in ReadOnlyMemory<byte> value, Span<byte> destination)
    {
        value.Span.CopyTo(destination);
        return value.Length;
    }

    public ReadOnlyMemory<byte> Read(ReadOnlySpan<byte> source) => source.ToArray();
}

internal sealed class StringCodec : IPayloadCodec<string>
{
    public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

    public int GetSize(in string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return Encoding.UTF8.GetByteCount(value);
    }

    public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

    public string Read(ReadOnlySpan<byte> source)
    {
        if (!Utf8.IsValid(source))
        {
            throw PayloadFormatException.Of("The payload is malformed: it is not valid UTF-8");
        }

        return Encoding.UTF8.GetString(source);
    }
}
