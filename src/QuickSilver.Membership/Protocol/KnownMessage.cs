using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// The newest configuration that the side that sends this has.
internal readonly record struct KnownMessage(int Kind, long Configuration) : IControlMessage
{
    /// <summary>The node is alive, and has every configuration up to this one.</summary>
    public static KnownMessage Heartbeat(long configuration) => new(ControlMessageKind.Heartbeat, configuration);

    /// <summary>The service is alive.</summary>
    public static KnownMessage HeartbeatReply(long configuration) => new(ControlMessageKind.HeartbeatReply, configuration);

    /// <summary>A configuration after this one is missing: the node asks for a snapshot.</summary>
    public static KnownMessage Resync(long configuration) => new(ControlMessageKind.Resync, configuration);

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
    }

    public static KnownMessage Read(ReadOnlySpan<byte> body, int kind)
    {
        var reader = new ProtobufReader(body);
        long configuration = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new KnownMessage(kind, configuration);
    }
}
