namespace QuickSilver.Membership.Protocol.Requests;

// Nothing that the node sent in a view superseded at or before this configuration is unsettled.
internal readonly record struct ConfirmMessage(long Configuration) : IControlMessage
{
    public static int Kind => ControlMessageKind.Confirm;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Configuration);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out ConfirmMessage message)
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

        message = new ConfirmMessage(configuration);
        return !reader.Failed;
    }
}
