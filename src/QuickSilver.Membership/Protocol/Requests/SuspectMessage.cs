using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Requests;

// A ring neighbour does not answer this node.
internal readonly record struct SuspectMessage(NodeKey Node, string Reason) : IControlMessage
{
    public static int Kind => ControlMessageKind.Suspect;

    public void Write(ProtoWriter writer)
    {
        ViewFields.WriteNode(writer, 1, Node);
        writer.Text(2, Reason);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out SuspectMessage message)
    {
        var reader = new ProtoReader(body);
        NodeKey node = default;
        string reason = "";
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: node = ViewFields.ReadNode(ref reader); break;
                case 2: reason = reader.Text(ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(); break;
            }
        }

        message = new SuspectMessage(node, reason);
        return !reader.Failed;
    }
}
