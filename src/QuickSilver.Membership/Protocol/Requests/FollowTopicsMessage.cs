using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// A member follows the topics that are published and whose names begin with the prefix, now and from now on. It asks again on each
// connection.
internal sealed record FollowTopicsMessage : IControlMessage, IReadableMessage<FollowTopicsMessage>
{
    /// <summary>Topics of one answer. With the longest names, they take 6 MB.</summary>
    public const int MostTopics = 8_192;

    /// <summary>Prefixes that a member follows at a time: a program has a few patterns of names.</summary>
    public const int MostPerMember = 32;

    public int Kind => ControlMessageKind.FollowTopics;

    // The member chooses it. If the service knows it already, it lists all topics again.
    public required ulong Id { get; init; }
    public string Prefix { get; init; } = "";
    // The most topics that the member wants at a time; 0: it stops following.
    public int Most { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Id);
        buffer.Text(2, Prefix);
        buffer.UInt64(3, (ulong)Most);
    }

    public static FollowTopicsMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong id = 0;
        string prefix = "";
        int most = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadUInt64(field); break;
                case 2: prefix = reader.ReadText(field, SetTopicMessage.MaxNameBytes); break;
                case 3: most = reader.ReadInt32(field, MostTopics); break;
                default: reader.Skip(field); break;
            }
        }

        return new FollowTopicsMessage { Id = id, Prefix = prefix, Most = most };
    }
}
