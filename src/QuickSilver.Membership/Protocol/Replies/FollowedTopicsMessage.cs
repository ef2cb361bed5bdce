using System.Collections.Immutable;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The changes of the topics that a member follows. The first answer lists all topics, in as many messages as it needs, from one that begins
// to one that ends.
internal sealed record FollowedTopicsMessage : IControlMessage, IReadableMessage<FollowedTopicsMessage>
{
    /// <summary>Names of one message. The longest take 256 KB.</summary>
    public const int MostNames = 256;

    public int Kind => ControlMessageKind.FollowedTopics;

    public required ulong Id { get; init; }
    // The list of all begins. Topics that are not named until the last of these messages are not published.
    public bool Begins { get; init; }
    public bool Ends { get; init; }
    // Topics that are published and not listed, because the member wants no more.
    public int Beyond { get; init; }
    // The names of topics that are published now, and of those that no longer are.
    public ImmutableArray<string> Published { get; init; } = [];
    public ImmutableArray<string> Gone { get; init; } = [];

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, Id);
        buffer.Bool(2, Begins);
        buffer.Bool(3, Ends);
        buffer.UInt64(4, (ulong)Beyond);
        foreach (string name in Published)
        {
            buffer.Text(5, name);
        }

        foreach (string name in Gone)
        {
            buffer.Text(6, name);
        }
    }

    public static FollowedTopicsMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong id = 0;
        bool begins = false, ends = false;
        int beyond = 0;
        var published = ImmutableArray.CreateBuilder<string>();
        var gone = ImmutableArray.CreateBuilder<string>();
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: id = reader.ReadUInt64(field); break;
                case 2: begins = reader.ReadBool(field); break;
                case 3: ends = reader.ReadBool(field); break;
                case 4: beyond = reader.ReadInt32(field, int.MaxValue); break;
                case 5: published.Add(reader.ReadText(field, SetTopicMessage.MaxNameBytes)); break;
                case 6: gone.Add(reader.ReadText(field, SetTopicMessage.MaxNameBytes)); break;
                default: reader.Skip(field); break;
            }
        }

        return new FollowedTopicsMessage
        {
            Id = id,
            Begins = begins,
            Ends = ends,
            Beyond = beyond,
            Published = published.DrainToImmutable(),
            Gone = gone.DrainToImmutable(),
        };
    }
}
