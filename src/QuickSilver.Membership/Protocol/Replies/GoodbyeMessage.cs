using System.Net;

namespace QuickSilver.Membership.Protocol.Replies;

// The service ends. The node looks for another, at once at Successor when that is given.
internal readonly record struct GoodbyeMessage(IPEndPoint? Successor) : IControlMessage
{
    public static int Kind => ControlMessageKind.Goodbye;

    public void Write(ProtoWriter writer)
    {
        if (Successor is not null)
        {
            ViewFields.WriteEndPoint(writer, 1, Successor);
        }
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out GoodbyeMessage message)
    {
        var reader = new ProtoReader(body);
        IPEndPoint? successor = null;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: successor = ViewFields.ReadEndPoint(ref reader); break;
                default: reader.Skip(); break;
            }
        }

        message = new GoodbyeMessage(successor);
        return !reader.Failed;
    }
}
