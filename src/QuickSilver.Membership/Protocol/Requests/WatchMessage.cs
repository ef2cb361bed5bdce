using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// An observer asks for the vital signs of all nodes. The first message of its stream, instead of Join: it is no node, and gets nothing
// else. It may ask again after the answer.
internal sealed record WatchMessage : IControlMessage, IReadableMessage<WatchMessage>
{
    public const int OfServiceAlone = 0;

    public int Kind => ControlMessageKind.Watch;

    public required string Cluster { get; init; }
    public required int ProtocolVersion { get; init; }
    // Of regions, and of topics, for each node. OfServiceAlone: no node is asked, and the service answers once. So do hosts that meet.
    public int Rows { get; init; }
    // It sends echoes itself, so it gets the key of the cluster, by an inquiry without targets.
    public bool SendsEchoes { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Cluster);
        buffer.UInt64(2, (ulong)ProtocolVersion);
        buffer.UInt64(3, (ulong)Rows);
        buffer.Bool(4, SendsEchoes);
    }

    public static WatchMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        string cluster = "";
        int version = 0;
        int rows = 0;
        bool sendsEchoes = false;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: cluster = reader.ReadText(field, JoinMessage.MaxClusterBytes); break;
                case 2: version = reader.ReadInt32(field, int.MaxValue); break;
                case 3: rows = reader.ReadInt32(field, int.MaxValue); break;
                case 4: sendsEchoes = reader.ReadBool(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new WatchMessage { Cluster = cluster, ProtocolVersion = version, Rows = rows, SendsEchoes = sendsEchoes };
    }
}
