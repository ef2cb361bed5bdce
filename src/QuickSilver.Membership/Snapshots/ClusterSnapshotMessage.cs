using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// The answer to an observer begins with this: the service's own vital signs. So many MemberSnapshot messages follow as it says.
internal readonly record struct ClusterSnapshotMessage : IControlMessage, IReadableMessage<ClusterSnapshotMessage>
{
    public int Kind => ControlMessageKind.ClusterSnapshot;

    public long Configuration { get; init; }
    // The number of live nodes. Not all may be in the answer.
    public int Nodes { get; init; }
    public int Reported { get; init; }
    public int Observers { get; init; }
    // Since the service began.
    public long AgeMillis { get; init; }
    // The UDP port at which the service answers echoes; 0: it has none, or is of a version that does not report it.
    public int EchoPort { get; init; }
    // The standing of a service that a node hosts among hosts; none: no node hosts it, or it is of a version that does not report it.
    public HostStanding Host { get; init; }

    // Open in the cluster; 0: none, or the service is of a version that does not report it.
    public int Topics { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
        buffer.UInt64(2, (ulong)Nodes);
        buffer.UInt64(3, (ulong)Reported);
        buffer.UInt64(4, (ulong)Observers);
        buffer.Int64(5, AgeMillis);
        buffer.UInt64(6, (ulong)EchoPort);
        buffer.Fixed64(7, Host.Id);
        buffer.UInt64(8, (ulong)Host.Members);
        buffer.UInt64(9, (ulong)Topics);
    }

    public static ClusterSnapshotMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        long configuration = 0, age = 0;
        int nodes = 0, reported = 0, observers = 0, echo = 0, heard = 0, topics = 0;
        ulong host = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: configuration = reader.ReadInt64(field); break;
                case 2: nodes = reader.ReadInt32(field, int.MaxValue); break;
                case 3: reported = reader.ReadInt32(field, int.MaxValue); break;
                case 4: observers = reader.ReadInt32(field, int.MaxValue); break;
                case 5: age = reader.ReadInt64(field); break;
                case 6: echo = reader.ReadInt32(field, ushort.MaxValue); break;
                case 7: host = reader.ReadFixed64(field); break;
                case 8: heard = reader.ReadInt32(field, int.MaxValue); break;
                case 9: topics = reader.ReadInt32(field, int.MaxValue); break;
                default: reader.Skip(field); break;
            }
        }

        return reported <= nodes
            ? new ClusterSnapshotMessage
            {
                Configuration = configuration,
                Nodes = nodes,
                Reported = reported,
                Observers = observers,
                AgeMillis = age,
                EchoPort = echo,
                Host = new HostStanding(host, heard, configuration),
                Topics = topics,
            }
            : throw new ControlFormatException($"The service reports {reported} of {nodes} nodes.");
    }
}
