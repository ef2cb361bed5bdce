using System.Collections.Immutable;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Views;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// One part of a configuration change. A change is divided into parts, each in a frame. The node applies it as a whole when the last one is
// there. Previous is the configuration that a delta builds on. LastRequest is the newest of the node's topic requests that the change
// includes. It distinguishes the view of a topic that was closed and opened again from the view of its new opening. It comes with the last
// part, which is the node's own. The other parts are the same for all nodes that get the same content.
//
// Never changed once it is read, so nodes share it (ConfigurationCache).
internal sealed class ConfigurationMessage : IReadableMessage<ConfigurationMessage>
{
    private byte[] _body = [];

    public long Number { get; init; }
    public long Previous { get; init; }
    public bool IsSnapshot { get; init; }
    public int Part { get; init; }
    public bool IsLast { get; init; }
    public ulong LastRequest { get; init; }
    // In the last part only.
    public ClusterKey? ClusterKey { get; init; }
    public ConfigurationContent Content { get; init; } = ConfigurationContent.None;

    public static ConfigurationMessage Read(ReadOnlySpan<byte> body) => Read(body, shared: null);

    /// <param name="body">The message.</param>
    /// <param name="shared">Where equal region views of other nodes are found; null: nowhere.</param>
    /// <exception cref="QuickSilverException">The body is no part of a configuration.</exception>
    public static ConfigurationMessage Read(ReadOnlySpan<byte> body, SharedViews? shared)
    {
        var reader = new ProtobufReader(body);
        long number = 0, previous = 0;
        bool isSnapshot = false, isLast = false;
        int part = 0;
        ulong lastRequest = 0;
        ClusterKey? clusterKey = null;
        var joined = ImmutableArray.CreateBuilder<NodeInfo>(0);
        var removed = ImmutableArray.CreateBuilder<NodeKey>(0);
        var regions = ImmutableArray.CreateBuilder<RegionView>(0);
        var topics = ImmutableArray.CreateBuilder<TopicView>(0);
        var outOfSight = ImmutableArray.CreateBuilder<ulong>(0);
        ImmutableArray<EndedLife>.Builder? ended = null;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: number = reader.ReadInt64(field); break;
                case 2: previous = reader.ReadInt64(field); break;
                case 3: isSnapshot = reader.ReadBool(field); break;
                case 4: part = reader.ReadInt32(field, int.MaxValue); break;
                case 5: isLast = reader.ReadBool(field); break;
                case 6: lastRequest = reader.ReadUInt64(field); break;
                case 7: joined.Add(ViewFields.ReadInfo(ref reader, field)); break;
                case 8: removed.Add(ViewFields.ReadNode(ref reader, field)); break;
                case 9:
                    var region = ViewFields.ReadRegion(ref reader, field);
                    regions.Add(shared?.Share(region) ?? region);
                    break;
                case 10: topics.Add(ViewFields.ReadTopic(ref reader, field, topics.Count > 0 ? topics[^1].Regions : [])); break;
                case 11: outOfSight.Add(reader.ReadFixed64(field)); break;
                case 12: clusterKey = ViewFields.ReadClusterKey(ref reader, field); break;
                case 13: EndedFields.Read(ref reader, field, ref ended); break;
                default: reader.Skip(field); break;
            }
        }

        return number <= 0 ? throw new ControlFormatException($"Configuration {number} is not valid.") : new ConfigurationMessage
        {
            Number = number,
            Previous = previous,
            IsSnapshot = isSnapshot,
            Part = part,
            IsLast = isLast,
            LastRequest = lastRequest,
            ClusterKey = clusterKey,
            Content = new ConfigurationContent
            {
                Joined = joined.DrainToImmutable(),
                Removed = removed.DrainToImmutable(),
                Regions = regions.DrainToImmutable(),
                Topics = topics.DrainToImmutable(),
                OutOfSight = outOfSight.DrainToImmutable(),
                Ended = ended?.DrainToImmutable() ?? [],
            },
        };
    }
    /// <summary>Keeps the bytes, to recognize them when another node receives them.</summary>
    public void KeepBody(ReadOnlySpan<byte> body) => _body = body.ToArray();

    public bool WasReadFrom(ReadOnlySpan<byte> body) => body.SequenceEqual(_body);
}
