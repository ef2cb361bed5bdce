namespace QuickSilver.Membership.Protocol.Replies;

// Every live node has confirmed this configuration.
internal readonly record struct SettledMessage(long Configuration) : IControlMessage
{
    public static int Kind => ControlMessageKind.Settled;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Configuration);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out SettledMessage message)
    {
        var reader = new ProtoReader(body);
        long configuration = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: configuration = reader.Int64(); break;
                default: reader.Skip(); break;
            }
        }

        message = new SettledMessage(configuration);
        return !reader.Failed;
    }
}
