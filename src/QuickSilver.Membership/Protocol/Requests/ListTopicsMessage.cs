using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// An observer asks which topics are open: all, in pages, or one with its contracts. It may be the first message of its stream, as Watch.
internal sealed record ListTopicsMessage : IControlMessage, IReadableMessage<ListTopicsMessage>
{
    public int Kind => ControlMessageKind.ListTopics;

    public required string Cluster { get; init; }
    public required int ProtocolVersion { get; init; }
    // The topic whose contracts are listed; empty: all topics, without the fields of their contracts.
    public string Name { get; init; } = "";
    // The last topic of the page before, by number; 0: the first page.
    public ulong After { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Cluster);
        buffer.UInt64(2, (ulong)ProtocolVersion);
        buffer.Text(3, Name);
        buffer.Fixed64(4, After);
    }

    public static ListTopicsMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        string cluster = "", name = "";
        int version = 0;
        ulong after = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: cluster = reader.ReadText(field, JoinMessage.MaxClusterBytes); break;
                case 2: version = reader.ReadInt32(field, int.MaxValue); break;
                case 3: name = reader.ReadText(field, SetTopicMessage.MaxNameBytes); break;
                case 4: after = reader.ReadFixed64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new ListTopicsMessage { Cluster = cluster, ProtocolVersion = version, Name = name, After = after };
    }
}
