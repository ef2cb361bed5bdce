namespace QuickSilver.Membership.Protocol.Requests;

// A step of the configuration is missing: the node asks for all of it.
internal readonly record struct ResyncMessage(long Known) : IControlMessage
{
    public static int Kind => ControlMessageKind.Resync;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Known);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out ResyncMessage message)
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

        message = new ResyncMessage(known);
        return !reader.Failed;
    }
}
