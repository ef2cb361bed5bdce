using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Paths;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Repairs;

namespace QuickSilver.Multicast.Sending;

// What all streams that this node sends share.
internal sealed class SendingParts(SchemeContext schemes, IRepairScheme repair)
{
    public NodeContext Node => schemes.Node;

    public SchemeContext Schemes => schemes;

    public NodePaths Paths => schemes.Paths;

    public IRepairScheme Repair => repair;

    public RetentionBudget Retention { get; } = new(schemes.Node.Options.RetentionBytes);

    public RepairTransmission Repairs => field ??= new RepairTransmission(Node, Paths);

    /// <summary>The root of all that this node sends of its streams.</summary>
    public SocketSink Sockets => SocketsIfAny ??= new SocketSink(Node.Environment);

    /// <summary>Null until something is sent.</summary>
    public SocketSink? SocketsIfAny { get; private set; }

    /// <summary>The members that do not hear this node over a group.</summary>
    public DeafMembers Deaf { get; set; } = null!;

    /// <summary>The topics whose addresses members of some regions do not hear. Null while there are none.</summary>
    public UnheardTopics? Unheard { get; private set; }

    /// <summary>The port that sends to groups; null if packets go to each member by itself, or in another way.</summary>
    public IDatagramPort? GroupPort { get; set; }

    /// <summary>A member of the region reports that it does not hear the topic's address.</summary>
    public void NoteUnheard(ulong topicId, ulong region) => (Unheard ??= new UnheardTopics(Node.Environment)).Add(topicId, region);

    /// <summary>How many packets of this size, before they are sealed, the longest run has that reaches its receivers whole.</summary>
    public int PacketsInRun(int packetBytes) => SegmentationOffload.RunSegments(
        packetBytes + (Node.Options.DatagramBytes - Node.Options.PacketBytes), Node.Environment.LocalAddress.AddressFamily);
}
