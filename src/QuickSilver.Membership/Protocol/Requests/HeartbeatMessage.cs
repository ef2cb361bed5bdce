using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// The node lives, and has every configuration up to this one.
internal readonly record struct HeartbeatMessage(long Known) : IControlMessage, IReadableMessage<HeartbeatMessage>
{
    public static int Kind => ControlMessageKind.Heartbeat;

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Known);
    }

    public static HeartbeatMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        long known = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: known = reader.ReadInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new HeartbeatMessage(known);
    }
}
