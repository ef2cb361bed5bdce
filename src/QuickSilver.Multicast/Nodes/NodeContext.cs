using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes;

// The node as all rooms know it: its surroundings, its options, and what they share. Parts that only some rooms use are handed to those.
internal class NodeContext(INodeEnvironment environment, NodeOptions options, IMembership membership)
{
    private RateLimit? _checks;

    public INodeEnvironment Environment { get; } = environment;

    public NodeOptions Options { get; } = options;

    public IMembership Membership { get; } = membership;

    public MulticastCounters Counters { get; init; } = new();

    public NodeDirectory Directory { get; } = new(membership.Roster);

    public NodeKey Self => Membership.Self;

    public ILogger Log { get; set; } = NullLogger.Instance;

    public Troubles Troubles => field ??= new();

    /// <summary>All that wait for memory of the heap. Created before any message comes.</summary>
    public HeapShortage Shortage => ShortageIfAny ??= new HeapShortage(this);

    public ScratchBuffers Scratch => new(this);

    /// <summary>Of <see cref="Scratch"/>.</summary>
    public object[] ScratchObjects { get; set; } = [];

    /// <summary>Of <see cref="Scratch"/>.</summary>
    public byte[]? ScratchPacket { get; set; }

    /// <summary>The unicast port of the node, for tokens, pulls, acknowledgements and repairs.</summary>
    public required IDatagramPort ControlPort { get; init; }

    /// <summary>Called when an acknowledgement has freed room or settled a stream.</summary>
    public required Action OnSenderProgress { get; init; }

    /// <summary>Called when something waits for another node, and may wait for long.</summary>
    public required Action OnWait { get; init; }

    /// <summary>Null until it is first needed.</summary>
    protected HeapShortage? ShortageIfAny { get; private set; }

    /// <summary>A node as a person reads it.</summary>
    public NamedNode Named(NodeKey node) => Membership.Names.Named(node);

    /// <summary>
    /// Leaves the cluster because this node cannot continue, so that the others can, and passes the reason to the layer above.
    /// </summary>
    public void GiveUp(string reason) => Membership.GiveUp(reason);

    /// <summary>The members of the view that were removed before this node learnt of it.</summary>
    public List<NodeKey> AbsentFrom(RegionView view)
    {
        var absent = Directory.Lacking(view.Members.AsSpan());
        absent.Remove(Self);
        return absent;
    }

    public PacketTemplate Template(RegionView view) =>
        new(Options.ClusterId, Self.Id, Self.Incarnation, view.RegionId, view.Number);

    /// <summary>A template for packets that concern no view.</summary>
    public PacketTemplate Template() => new(Options.ClusterId, Self.Id, Self.Incarnation, 0, 0);

    public void SendControl(ReadOnlySpan<byte> packet, DatagramAddress to) => ControlPort.Send(packet, packet.Length, to);

    /// <summary>Returns false if this node has sent as many packets as it may for now to members that have not asked.</summary>
    public bool MayCheck()
    {
        double rate = Options.ChecksPerSecond;
        _checks ??= new RateLimit(Environment.Now, rate, Math.Max(1, rate / 8));
        return _checks.TryTake(Environment.Now, 1);
    }

    public int RandomBelow(int bound) => (int)(Environment.NextRandom() % (ulong)bound);
}
