namespace QuickSilver.Membership.Protocol.Replies;

// The node is a member. Service tells one life of a service from another; a resumed member gets what it missed next. How often
// members say that they live, and how often they may miss it, is the service's to say: a node with a longer interval of its own
// would be taken for dead.
internal readonly record struct WelcomeMessage(ulong Service, bool Resumed, TimeSpan HeartbeatInterval, int HeartbeatsMissed)
    : IControlMessage
{
    private static readonly TimeSpan LeastInterval = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan MostInterval = TimeSpan.FromHours(1);
    private const int MostMissed = 10_000;

    public static int Kind => ControlMessageKind.Welcome;

    public void Write(ProtoWriter writer)
    {
        writer.Fixed64(1, Service);
        writer.Bool(2, Resumed);
        writer.Int64(3, (long)HeartbeatInterval.TotalMicroseconds);
        writer.UInt64(4, (ulong)HeartbeatsMissed);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out WelcomeMessage message)
    {
        var reader = new ProtoReader(body);
        ulong service = 0;
        bool resumed = false;
        long microseconds = 0;
        int missed = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: service = reader.Fixed64(); break;
                case 2: resumed = reader.Bool(); break;
                case 3: microseconds = reader.Int64(); break;
                case 4: missed = reader.Int32(MostMissed); break;
                default: reader.Skip(); break;
            }
        }

        bool isSound = microseconds >= LeastInterval.TotalMicroseconds && microseconds <= MostInterval.TotalMicroseconds && missed > 0;
        message = new WelcomeMessage(service, resumed, TimeSpan.FromMicroseconds(isSound ? microseconds : 0), missed);
        return !reader.Failed && isSound;
    }
}
