namespace QuickSilver.Membership.Protocol.Requests;

// The node lives, and has every configuration up to this one.
internal readonly record struct HeartbeatMessage(long Known) : IControlMessage
{
    public static int Kind => ControlMessageKind.Heartbeat;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Known);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HeartbeatMessage message)
    {
        var reader = new ProtoReader(body);
        long known = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: known = reader.Int64(); break;
                default: reader.Skip(); break;
            }
        }

        message = new HeartbeatMessage(known);
        return !reader.Failed;
    }
}
