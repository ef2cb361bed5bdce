using QuickSilver.Membership.Contracts;
using QuickSilver.Serialization;

namespace QuickSilver.Tool.Catalog;

// Takes the bytes of any payload. A topic that is opened with it, to subscribe, agrees with every contract and binds no node to one.
internal sealed class AnyCodec : IPayloadCodec<ReadOnlyMemory<byte>>
{
    public PayloadSchema Schema { get; } = new("any payload", ContractDescription.AnyKind, []);

    public int GetSize(in ReadOnlyMemory<byte> value) => value.Length;

    public int Write(in ReadOnlyMemory<byte> value, Span<byte> destination)
    {
        value.Span.CopyTo(destination);
        return value.Length;
    }

    public ReadOnlyMemory<byte> Read(ReadOnlySpan<byte> source) => source.ToArray();
}

// Bytes that are said to be a payload of a contract that another node has registered.
internal sealed class BorrowedCodec(PayloadSchema schema) : IPayloadCodec<ReadOnlyMemory<byte>>
{
    public PayloadSchema Schema { get; } = schema;

    public int GetSize(in ReadOnlyMemory<byte> value) => value.Length;

    public int Write(in ReadOnlyMemory<byte> value, Span<byte> destination)
    {
        value.Span.CopyTo(destination);
        return value.Length;
    }

    public ReadOnlyMemory<byte> Read(ReadOnlySpan<byte> source) => source.ToArray();
}
