using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// One reason for which a node is not ready, or is ready but has a problem.
internal readonly record struct ReasonSnapshot(string What)
{
    // A text that is longer is cut by the node.
    public const int MaxWhatBytes = 512;
    public const int MaxWaitsForBytes = 256;

    /// <summary>The kind, by the number of its public name.</summary>
    public long Kind { get; init; }

    /// <summary>What the node waits for, as the end of a sentence; empty: nothing in particular.</summary>
    public string WaitsFor { get; init; } = "";

    /// <summary>How long it has been so.</summary>
    public long SinceMillis { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Kind);
        buffer.Text(2, What);
        buffer.Text(3, WaitsFor);
        buffer.Int64(4, SinceMillis);
    }

    public static ReasonSnapshot Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string what = "", waitsFor = "";
        long kind = 0, since = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: kind = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 2: what = reader.ReadText(field, MaxWhatBytes); break;
                case 3: waitsFor = reader.ReadText(field, MaxWaitsForBytes); break;
                case 4: since = NodeSnapshot.ReadNumber(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new ReasonSnapshot(what) { Kind = kind, WaitsFor = waitsFor, SinceMillis = since };
    }
}
