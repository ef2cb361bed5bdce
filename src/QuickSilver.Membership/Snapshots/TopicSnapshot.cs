using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// One topic that a node has open. Rates are per second.
internal readonly record struct TopicSnapshot(string Name)
{
    // A name that is longer is cut by the node.
    public const int MaxNameBytes = 128;

    public long Published { get; init; }
    public long Delivered { get; init; }

    /// <summary>In the topic's last view.</summary>
    public long Subscribers { get; init; }

    /// <summary>What keeps the topic from sending, by the number of its public name.</summary>
    public long Limit { get; init; }

    /// <summary>By what the rows are chosen.</summary>
    public long Load => Published + Delivered;

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Name);
        buffer.Int64(2, Published);
        buffer.Int64(3, Delivered);
        buffer.Int64(4, Subscribers);
        buffer.Int64(5, Limit);
    }

    public static TopicSnapshot Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string name = "";
        long published = 0, delivered = 0, subscribers = 0, limit = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: name = reader.ReadText(field, MaxNameBytes); break;
                case 2: published = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 3: delivered = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 4: subscribers = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 5: limit = NodeSnapshot.ReadNumber(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new TopicSnapshot(name) { Published = published, Delivered = delivered, Subscribers = subscribers, Limit = limit };
    }
}
