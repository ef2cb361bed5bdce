using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// A node's vital signs, in answer to the question with this number.
internal sealed record SnapshotMessage : IControlMessage
{
    public int Kind => ControlMessageKind.Snapshot;

    public required ulong Question { get; init; }
    public required NodeSnapshot Signs { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Question);
        int start = buffer.Begin(2);
        Signs.Write(buffer);
        buffer.End(start);
    }

    /// <summary>The number of the question, and the vital signs as they came: the service passes them on unread.</summary>
    /// <exception cref="QuickSilverException">The body is no such message, or the vital signs are too long.</exception>
    public static (ulong Question, byte[] Signs) ReadUnopened(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong question = 0;
        byte[] signs = [];
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: question = reader.ReadUInt64(field); break;
                case 2: signs = ReadSigns(ref reader, field).ToArray(); break;
                default: reader.Skip(field); break;
            }
        }

        return (question, signs);
    }

    internal static ReadOnlySpan<byte> ReadSigns(ref ProtobufReader reader, ControlField field)
    {
        var signs = reader.ReadBytes(field);
        return signs.Length <= NodeSnapshot.MaxBytes
            ? signs
            : throw new ControlFormatException(
                $"The vital signs of a node have {signs.Length} bytes; the limit is {NodeSnapshot.MaxBytes}.");
    }
}
