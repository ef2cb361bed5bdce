using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Replies;

// One part of a configuration change. A large change is cut into parts, each in a frame; the node applies it as a whole
// when the last one is there. Previous is the configuration that a delta builds on. LastRequest is the newest of the
// node's topic requests that the change knows of, so that a view of a topic which was closed and opened again in the
// meantime is told from a view of its new opening.
internal sealed class ConfigurationMessage
{
    public static int Kind => ControlMessageKind.Configuration;

    public long Number { get; set; }
    public long Previous { get; set; }
    public bool IsSnapshot { get; set; }
    public int Part { get; set; }
    public bool IsLast { get; set; }
    public ulong LastRequest { get; set; }
    public List<NodeInfo> Joined { get; } = [];
    public List<NodeKey> Removed { get; } = [];
    public List<RegionView> Regions { get; } = [];
    public List<TopicView> Topics { get; } = [];

    private ImmutableArray<ulong> LastRegions => Topics.Count > 0 ? Topics[^1].Regions : [];

    public static ConfigurationMessage? Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtoReader(body);
        var message = new ConfigurationMessage();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: message.Number = reader.Int64(); break;
                case 2: message.Previous = reader.Int64(); break;
                case 3: message.IsSnapshot = reader.Bool(); break;
                case 4: message.Part = reader.Int32(int.MaxValue); break;
                case 5: message.IsLast = reader.Bool(); break;
                case 6: message.LastRequest = reader.UInt64(); break;
                case 7: message.Joined.Add(ViewFields.ReadInfo(ref reader)); break;
                case 8: message.Removed.Add(ViewFields.ReadNode(ref reader)); break;
                case 9: message.Regions.Add(ViewFields.ReadRegion(ref reader).Shared()); break;
                case 10: message.Topics.Add(ViewFields.ReadTopic(ref reader, message.LastRegions)); break;
                default: reader.Skip(); break;
            }
        }

        return reader.Failed || message.Number <= 0 ? null : message;
    }
}
