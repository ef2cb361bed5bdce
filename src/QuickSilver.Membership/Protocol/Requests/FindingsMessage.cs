namespace QuickSilver.Membership.Protocol.Requests;

// The answer to an inquiry: from which of its targets an echo came back (bit 0 is the first), and whether from the service.
internal readonly record struct FindingsMessage(ulong Inquiry, ulong Reached, bool IsServiceReached) : IControlMessage
{
    public static int Kind => ControlMessageKind.Findings;

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, Inquiry);
        writer.UInt64(2, Reached);
        writer.Bool(3, IsServiceReached);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out FindingsMessage message)
    {
        var reader = new ProtoReader(body);
        ulong inquiry = 0;
        ulong reached = 0;
        bool isServiceReached = false;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: inquiry = reader.UInt64(); break;
                case 2: reached = reader.UInt64(); break;
                case 3: isServiceReached = reader.Bool(); break;
                default: reader.Skip(); break;
            }
        }

        message = new FindingsMessage(inquiry, reached, isServiceReached);
        return !reader.Failed;
    }
}
