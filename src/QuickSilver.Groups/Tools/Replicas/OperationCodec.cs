using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.Replicas;

// The messages of a tool are bytes to its group: only the state machine reads them, so that all members treat malformed ones alike. The
// schema is that of what the tool keeps, so that members with other types are refused.
internal sealed class OperationCodec(PayloadSchema schema) : IPayloadCodec<ReadOnlyMemory<byte>>
{
    public PayloadSchema Schema => schema;

    public int GetSize(in ReadOnlyMemory<byte> value) => value.Length;

    public int Write(in ReadOnlyMemory<byte> value, Span<byte> destination)
    {
        value.Span.CopyTo(destination);
        return value.Length;
    }

    public ReadOnlyMemory<byte> Read(ReadOnlySpan<byte> source) => source.ToArray();
}
