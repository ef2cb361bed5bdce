using System.Net;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The service ends. The node looks for another, at once at Successor when that is given.
internal readonly record struct GoodbyeMessage(IPEndPoint? Successor) : IControlMessage, IReadableMessage<GoodbyeMessage>
{
    public int Kind => ControlMessageKind.Goodbye;

    public void Write(ControlBuffer buffer)
    {
        if (Successor is not null)
        {
            ViewFields.WriteEndPoint(buffer, 1, Successor);
        }
    }

    public static GoodbyeMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        IPEndPoint? successor = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: successor = ViewFields.ReadEndPoint(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new GoodbyeMessage(successor);
    }
}
