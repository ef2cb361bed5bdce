using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// How lives that are over are written inside messages.
internal static class EndedFields
{
    public static void Write(ControlBuffer buffer, int field, EndedLife life)
    {
        int start = buffer.Begin(field);
        ViewFields.WriteNode(buffer, 1, life.Node);
        buffer.Fixed64(2, life.Service);
        buffer.Int64(3, life.Number);
        buffer.Fixed64(4, life.Origin.Service);
        buffer.Int64(5, life.Origin.Configuration);
        buffer.End(start);
    }

    /// <summary>One of a list with at most <see cref="EndedLife.Most"/>.</summary>
    public static void Read(ref ProtobufReader outer, ControlField at, ref ImmutableArray<EndedLife>.Builder? lives)
    {
        lives ??= ImmutableArray.CreateBuilder<EndedLife>();
        if (lives.Count == EndedLife.Most)
        {
            throw new ControlFormatException($"More than {EndedLife.Most} ended lives are named.");
        }

        lives.Add(Read(ref outer, at));
    }

    private static EndedLife Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        NodeKey node = default;
        ulong service = 0;
        long number = 0;
        Origin origin = default;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: node = ViewFields.ReadNode(ref reader, field); break;
                case 2: service = reader.ReadFixed64(field); break;
                case 3: number = reader.ReadInt64(field); break;
                case 4: origin = origin with { Service = reader.ReadFixed64(field) }; break;
                case 5: origin = origin with { Configuration = reader.ReadInt64(field) }; break;
                default: reader.Skip(field); break;
            }
        }

        return number > 0
            ? new EndedLife(node, service, number, origin)
            : throw new ControlFormatException($"Configuration {number}, which ended a life, is not valid.");
    }
}
