namespace QuickSilver.Membership.Protocol.Replies;

// The node is a member. Service tells one life of a service from another; a resumed member gets what it missed next.
internal readonly record struct WelcomeMessage(ulong Service, bool Resumed) : IControlMessage
{
    public static int Kind => ControlMessageKind.Welcome;

    public void Write(ProtoWriter writer)
    {
        writer.Fixed64(1, Service);
        writer.Bool(2, Resumed);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out WelcomeMessage message)
    {
        var reader = new ProtoReader(body);
        ulong service = 0;
        bool resumed = false;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: service = reader.Fixed64(); break;
                case 2: resumed = reader.Bool(); break;
                default: reader.Skip(); break;
            }
        }

        message = new WelcomeMessage(service, resumed);
        return !reader.Failed;
    }
}
