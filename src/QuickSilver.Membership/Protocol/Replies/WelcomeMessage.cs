using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The node is a member. Service distinguishes the lives of services. A member that has reconnected gets next what it missed. The service
// sets how often members send heartbeats and how many they may miss: a node with a longer interval of its own would be considered dead.
// LeadsAlone: the service shares nothing with other servers, so that each of them is a cluster of its own.
internal readonly record struct WelcomeMessage(
    ulong Service, bool Resumed, TimeSpan HeartbeatInterval, int HeartbeatsMissed, bool LeadsAlone = false)
    : IControlMessage, IReadableMessage<WelcomeMessage>
{
    private static readonly TimeSpan LeastInterval = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan MostInterval = TimeSpan.FromHours(1);
    private const int MostMissed = 10_000;

    public int Kind => ControlMessageKind.Welcome;

    public void Write(ControlBuffer buffer)
    {
        buffer.Fixed64(1, Service);
        buffer.Bool(2, Resumed);
        buffer.Int64(3, (long)HeartbeatInterval.TotalMicroseconds);
        buffer.UInt64(4, (ulong)HeartbeatsMissed);
        buffer.Bool(5, LeadsAlone);
    }

    public static WelcomeMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong service = 0;
        bool resumed = false;
        long microseconds = 0;
        int missed = 0;
        bool leadsAlone = false;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: service = reader.ReadFixed64(field); break;
                case 2: resumed = reader.ReadBool(field); break;
                case 3: microseconds = reader.ReadInt64(field); break;
                case 4: missed = reader.ReadInt32(field, MostMissed); break;
                case 5: leadsAlone = reader.ReadBool(field); break;
                default: reader.Skip(field); break;
            }
        }

        if (microseconds < LeastInterval.TotalMicroseconds || microseconds > MostInterval.TotalMicroseconds || missed == 0)
        {
            throw new ControlFormatException($"Heartbeats every {microseconds} µs, of which {missed} may be missed, are not valid.");
        }

        return new WelcomeMessage(service, resumed, TimeSpan.FromMicroseconds(microseconds), missed, leadsAlone);
    }
}
