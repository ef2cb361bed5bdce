using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// What a protocol reports of one topic of the node beyond what all topics have: the view of its members, their order, and their state.
internal readonly record struct ProtocolSnapshot(string Guarantee, string Topic)
{
    // Texts that are longer are cut by the node.
    public const int MaxGuaranteeBytes = 32;
    public const int MaxNodesBytes = 128;

    /// <summary>The number of the view in which the node takes messages; 0 before the first.</summary>
    public long View { get; init; }

    public long Members { get; init; }

    /// <summary>The rank of this node in the view.</summary>
    public long Rank { get; init; }

    /// <summary>The node that decides the order of the view: its name, or its id if it has none. Empty before the first view.</summary>
    public string Orderer { get; init; } = "";

    /// <summary>Messages that have come and wait for their order.</summary>
    public long Waiting { get; init; }

    public StateStanding State { get; init; }

    /// <summary>The node that is asked for the state; empty: none, or it is not known yet.</summary>
    public string Donor { get; init; } = "";

    /// <summary>The nodes to which this one gives the state, in the order in which they asked.</summary>
    public string Takers { get; init; } = "";

    /// <summary>Whether the node waits for another one.</summary>
    public bool IsWaiting => Waiting > 0 || State == StateStanding.Sought;

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Guarantee);
        buffer.Text(2, Topic);
        buffer.Int64(3, View);
        buffer.Int64(4, Members);
        buffer.Int64(5, Rank);
        buffer.Text(6, Orderer);
        buffer.Int64(7, Waiting);
        buffer.Int64(8, (long)State);
        buffer.Text(9, Donor);
        buffer.Text(10, Takers);
    }

    public static ProtocolSnapshot Read(ref ProtobufReader outer, ControlField at)
    {
        var reader = outer.ReadMessage(at);
        string guarantee = "", topic = "", orderer = "", donor = "", takers = "";
        long view = 0, members = 0, rank = 0, waiting = 0, state = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: guarantee = reader.ReadText(field, MaxGuaranteeBytes); break;
                case 2: topic = reader.ReadText(field, TopicSnapshot.MaxNameBytes); break;
                case 3: view = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 4: members = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 5: rank = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 6: orderer = reader.ReadText(field, MaxNodesBytes); break;
                case 7: waiting = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 8: state = NodeSnapshot.ReadNumber(ref reader, field); break;
                case 9: donor = reader.ReadText(field, MaxNodesBytes); break;
                case 10: takers = reader.ReadText(field, MaxNodesBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new ProtocolSnapshot(guarantee, topic)
        {
            View = view,
            Members = members,
            Rank = rank,
            Orderer = orderer,
            Waiting = waiting,
            // One of a newer version is none that is known here.
            State = state <= (long)StateStanding.Sought ? (StateStanding)state : StateStanding.None,
            Donor = donor,
            Takers = takers,
        };
    }
}
