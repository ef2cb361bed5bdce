using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Recovery;

namespace QuickSilver.Multicast;

// What every part of one node's multicast shares.
internal sealed class MulticastContext(INodeEnvironment environment, MulticastOptions options, IMembership membership)
{
    private byte[]? _tokenPacket;

    public INodeEnvironment Environment { get; } = environment;
    public MulticastOptions Options { get; } = options;
    public IMembership Membership { get; } = membership;
    public MulticastCounters Counters { get; } = new();
    public NodeDirectory Directory { get; } = new();
    public RetentionBudget Retention { get; } = new(options.RetentionBytes);
    public ReassemblyBudget Reassembly { get; } = new(options.ReassemblyBytes);
    public NodeKey Self => Membership.Self;

    /// <summary>The token under the hand, of whichever ring, and the packet to write it into: each used within one call.</summary>
    public Token Token { get; } = new();
    public PullDrafts PullDrafts { get; } = new();
    public byte[] TokenPacket => _tokenPacket ??= new byte[Options.PacketBytes];

    /// <summary>The node's unicast port: tokens, pulls, acknowledgements and repairs.</summary>
    public required IDatagramPort ControlPort { get; init; }

    /// <summary>An acknowledgement freed room or settled a stream.</summary>
    public required Action OnSenderProgress { get; init; }

    public PacketTemplate Template(RegionView view) =>
        new(Options.ClusterId, Self.Id, Self.Incarnation, view.RegionId, view.Number);

    public void SendControl(ReadOnlySpan<byte> packet, DatagramAddress to) => ControlPort.Send(packet, packet.Length, to);

    public void SendRepair(ReadOnlySpan<byte> packet, DatagramAddress to)
    {
        if (ControlPort.Send(packet, packet.Length, to) == SendOutcome.Sent)
        {
            Counters.RepairsSent++;
        }
    }

    /// <summary>Null but in experiments.</summary>
    public IRepairWatch? RepairWatch { get; set; }

    public int RandomBelow(int bound) => (int)(Environment.NextRandom() % (ulong)bound);
}
