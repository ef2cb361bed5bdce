using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// What one node reports of one topic that it publishes at the rate of a slow reader.
internal readonly record struct HeldSnapshot(string Topic)
{
    /// <summary>The messages that the reader takes in a thousand seconds.</summary>
    public long PerThousandSeconds { get; init; }

    /// <summary>The node of the reader: its name, or its id if it has none.</summary>
    public string Reader { get; init; } = "";

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Topic);
        buffer.Int64(2, PerThousandSeconds);
        buffer.Text(3, Reader);
    }

    public static HeldSnapshot Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string topic = "", node = "";
        long rate = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: topic = reader.ReadText(field, TopicSnapshot.MaxNameBytes); break;
                case 2: rate = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 3: node = reader.ReadText(field, TopicSnapshot.MaxNameBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new HeldSnapshot(topic) { PerThousandSeconds = rate, Reader = node };
    }
}
