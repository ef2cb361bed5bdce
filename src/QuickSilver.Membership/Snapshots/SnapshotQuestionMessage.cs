using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// An observer watches, so the service asks each node for its vital signs, with at most this many rows of regions and of topics. The message
// is the same for all nodes.
internal readonly record struct SnapshotQuestionMessage(ulong Question, int Rows)
    : IControlMessage, IReadableMessage<SnapshotQuestionMessage>
{
    public int Kind => ControlMessageKind.SnapshotQuestion;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Question);
        buffer.UInt64(2, (ulong)Rows);
    }

    public static SnapshotQuestionMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong question = 0;
        int rows = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: question = reader.ReadUInt64(field); break;
                case 2: rows = reader.ReadInt32(field, NodeSnapshot.MostRows); break;
                default: reader.Skip(field); break;
            }
        }

        return new SnapshotQuestionMessage(question, rows);
    }
}
