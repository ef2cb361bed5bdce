using QuickSilver.Membership.Signs;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// Somebody watches: asks a node for its vital signs, with so many rows of regions and of topics. The same for all nodes.
internal readonly record struct SignsQuestionMessage(ulong Question, int Rows) : IControlMessage, IReadableMessage<SignsQuestionMessage>
{
    public int Kind => ControlMessageKind.SignsQuestion;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Question);
        buffer.UInt64(2, (ulong)Rows);
    }

    public static SignsQuestionMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong question = 0;
        int rows = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: question = reader.ReadUInt64(field); break;
                case 2: rows = reader.ReadInt32(field, NodeSigns.MostRows); break;
                default: reader.Skip(field); break;
            }
        }

        return new SignsQuestionMessage(question, rows);
    }
}
