using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Paths;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast;

// The parts of one node's multicast that the rooms use, each created when it is first used: a node without open topics needs none of them.
// No room names this type; each gets the parts that it uses.
internal sealed class MulticastContext : NodeContext, IRepairPush, IRepairQueue, IPacketHandler, IDisseminationParts
{
    private PendingRepairs? _pendingRepairs;
    // Null until the service or another node requests an echo.
    private EchoExchange? _echoes;

    public MulticastContext(INodeEnvironment environment, MulticastOptions options, IMembership membership)
        : base(environment, options, membership)
    {
        Paths = new NodePaths(this);
        Schemes = new SchemeContext(this, Paths, this, options.Repair);
        Sending = new SendingParts(Schemes, options.Repair);
        Receiving = new ReceivingParts(this, Schemes)
        {
            Repair = options.Repair,
            Stability = options.Stability,
            Dissemination = options.Dissemination.ForNode(this),
        };
        Parking = new ParkingBudget(options.ParkedBytesOfTopic, options.ParkedBytes, environment.Heap);
    }

    public NodePaths Paths { get; }

    public SchemeContext Schemes { get; }

    /// <summary>Set before the node has its first view.</summary>
    public SendingPorts Ports { get; set; } = null!;

    public SendingParts Sending { get; }

    public ReceivingParts Receiving { get; }

    public ParkingBudget Parking { get; }

    public EchoExchange Echoes => _echoes ??= new EchoExchange(this, Paths);

    public NodePauses? Pauses { get; set; }

    PendingRepairs IRepairQueue.Pending => _pendingRepairs ??= new PendingRepairs(Sending);

    NodeContext IDisseminationParts.Node => this;

    DeafMembers IDisseminationParts.Deaf => Sending.Deaf;

    /// <summary>Sends what streams have registered to be flushed, and what waits to be sent to several regions at once.</summary>
    public void FlushSockets() => Sending.SocketsIfAny?.FlushAll();

    /// <summary>This node stood still for so long.</summary>
    public void OnPause(TimeSpan length) => _echoes?.OnPause(length);

    public void Close()
    {
        Pauses?.Close();
        Sending.SocketsIfAny?.Close();
        Receiving.ReassemblyIfAny?.Close();
        Receiving.HealingIfAny?.Close();
        ShortageIfAny?.Close();
        _echoes?.Close();
        Paths.Close();
    }

    /// <summary>Handles echoes and their replies.</summary>
    DropReason IPacketHandler.OnPacket(in PacketHeader header, NodeKey sender) => Echoes.OnPacket(header);

    void IRepairPush.Push(IKeptStream cached, SequenceRanges gaps, NodeKey neighbour) =>
        ((IRepairQueue)this).Pending.Push(cached, gaps, neighbour);

    void IRepairPush.PushOne(IKeptStream cached, long number, NodeKey member) =>
        ((IRepairQueue)this).Pending.PushOne(cached, number, member);
}
