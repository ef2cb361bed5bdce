using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// One region that a node sends to or is a member of. Rates are per second.
internal readonly record struct RegionSnapshot(ulong RegionId)
{
    public long View { get; init; }
    public long Members { get; init; }
    public long ViewAgeMillis { get; init; }

    /// <summary>The views of the region that are open at this node, superseded ones among them.</summary>
    public long OpenViews { get; init; }
    public long SentPackets { get; init; }
    public long ReceivedPackets { get; init; }
    public long PendingPackets { get; init; }
    public long WindowPackets { get; init; }

    /// <summary>Packets that are known here to have been sent and did not come.</summary>
    public long MissingPackets { get; init; }

    /// <summary>What keeps the node's stream from sending, by the number of its public name.</summary>
    public long Limit { get; init; }

    /// <summary>The last times that were measured, in microseconds; 0: none, or not by this node.</summary>
    public long AckMicros { get; init; }
    public long TokenMicros { get; init; }

    /// <summary>By what the rows are chosen.</summary>
    public long Load => SentPackets + ReceivedPackets;

    public void Write(ControlBuffer buffer)
    {
        buffer.Fixed64(1, RegionId);
        buffer.Int64(2, View);
        buffer.Int64(3, Members);
        buffer.Int64(4, ViewAgeMillis);
        buffer.Int64(5, OpenViews);
        buffer.Int64(6, SentPackets);
        buffer.Int64(7, ReceivedPackets);
        buffer.Int64(8, PendingPackets);
        buffer.Int64(9, WindowPackets);
        buffer.Int64(10, MissingPackets);
        buffer.Int64(11, Limit);
        buffer.Int64(12, AckMicros);
        buffer.Int64(13, TokenMicros);
    }

    public static RegionSnapshot Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        ulong region = 0;
        Span<long> numbers = stackalloc long[14];
        numbers.Clear();
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: region = reader.ReadFixed64(field); break;
                case >= 2 and <= 13: numbers[field.Number] = NodeSnapshot.ReadNumber(ref reader, field); break;
                default: reader.Skip(field); break;
            }
        }

        return new RegionSnapshot(region)
        {
            View = numbers[2],
            Members = numbers[3],
            ViewAgeMillis = numbers[4],
            OpenViews = numbers[5],
            SentPackets = numbers[6],
            ReceivedPackets = numbers[7],
            PendingPackets = numbers[8],
            WindowPackets = numbers[9],
            MissingPackets = numbers[10],
            Limit = numbers[11],
            AckMicros = numbers[12],
            TokenMicros = numbers[13],
        };
    }
}
