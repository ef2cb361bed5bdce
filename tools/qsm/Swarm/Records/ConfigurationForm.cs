using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Tool.Swarm.Records;

// A configuration in a file of records: all that the checkers look at, with its region views by their numbers there.
internal static class ConfigurationForm
{
    private static readonly IPEndPoint Nowhere = new(IPAddress.None, 0);

    public static void Write(BinaryWriter writer, ConfigurationChange change, int[] regions)
    {
        writer.Write(change.Number);
        writer.Write(change.Service);
        writer.Write(change.IsSnapshot);
        writer.Write(change.Joined.Length);
        foreach (var node in change.Joined)
        {
            Write(writer, node.Key);
            writer.Write(node.JoinOrder);
            writer.Write(node.AdmittedAt);
        }

        writer.Write(change.Removed.Length);
        foreach (var key in change.Removed)
        {
            Write(writer, key);
        }

        writer.Write(regions.Length);
        foreach (int region in regions)
        {
            writer.Write(region);
        }

        writer.Write(change.Topics.Length);
        foreach (var topic in change.Topics)
        {
            Write(writer, topic);
        }
    }

    public static ConfigurationChange Read(BinaryReader reader, IReadOnlyList<RegionView> views) => new()
    {
        Number = reader.ReadInt64(),
        Service = reader.ReadUInt64(),
        IsSnapshot = reader.ReadBoolean(),
        Joined = Many(reader, one => new NodeInfo(ReadKey(one), Nowhere, one.ReadInt64(), one.ReadInt64())),
        Removed = Many(reader, ReadKey),
        Regions = Many(reader, one => views[one.ReadInt32()]),
        Topics = Many(reader, ReadTopic),
    };

    public static NodeKey ReadKey(BinaryReader reader) => new(reader.ReadUInt64(), reader.ReadUInt32());

    public static ImmutableArray<T> Many<T>(BinaryReader reader, Func<BinaryReader, T> read)
    {
        var items = new T[reader.ReadInt32()];
        for (int i = 0; i < items.Length; i++)
        {
            items[i] = read(reader);
        }

        return [.. items];
    }

    private static void Write(BinaryWriter writer, NodeKey key)
    {
        writer.Write(key.Id);
        writer.Write(key.Incarnation);
    }

    private static void Write(BinaryWriter writer, TopicView topic)
    {
        writer.Write(topic.TopicId);
        writer.Write(topic.Configuration);
        writer.Write(topic.Regions.Length);
        foreach (ulong region in topic.Regions)
        {
            writer.Write(region);
        }

        writer.Write(topic.Subscribed);
        writer.Write(topic.Routed);
        writer.Write(topic.Subscribers);
    }

    private static TopicView ReadTopic(BinaryReader reader) => new()
    {
        TopicId = reader.ReadUInt64(),
        Configuration = reader.ReadInt64(),
        Regions = Many(reader, one => one.ReadUInt64()),
        Subscribed = reader.ReadBoolean(),
        Routed = reader.ReadBoolean(),
        Subscribers = reader.ReadInt32(),
    };
}
