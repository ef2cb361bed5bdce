using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// A ring neighbour does not answer this node.
internal readonly record struct SuspectMessage(NodeKey Node, string Reason) : IControlMessage, IReadableMessage<SuspectMessage>
{
    public int Kind => ControlMessageKind.Suspect;

    public void Write(ControlBuffer buffer)
    {
        ViewFields.WriteNode(buffer, 1, Node);
        buffer.Text(2, Reason);
    }

    public static SuspectMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        NodeKey node = default;
        string reason = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: node = ViewFields.ReadNode(ref reader, field); break;
                case 2: reason = reader.ReadText(field, ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new SuspectMessage(node, reason);
    }
}
