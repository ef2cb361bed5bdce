using System.Text;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tests.Tools.Models;

// Text in UTF-8. One text may be unknown to it, as to a codec of an older version.
internal sealed class TextCodec(string? unknown = null) : IPayloadCodec<string>
{
    public PayloadSchema Schema { get; } = new("string", PayloadSchema.StringKind, []);

    public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

    public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

    public string Read(ReadOnlySpan<byte> source) =>
        Encoding.UTF8.GetString(source) is var value && value != unknown ? value : throw new FormatException("unknown");
}
