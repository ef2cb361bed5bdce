using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Paths;

namespace QuickSilver.Multicast.Sending.Repairs;

// Sends packets again, to one member or to all, within the budget of the node.
internal sealed class RepairTransmission(NodeContext context, NodePaths paths)
{
    private byte[]? _repair;
    private RepairBudget? _budget;

    /// <summary>The budget for retransmissions to others. The requester is set first.</summary>
    public RepairBudget Budget => _budget ??= new RepairBudget(context.Environment, context.Options);

    /// <summary>
    /// Returns false if this node has retransmitted as much as it may for now. The requester will ask again, usually another member.
    /// </summary>
    public bool MayRepair()
    {
        if (Budget.Allows())
        {
            return true;
        }

        context.Counters.RepairsPutOff++;
        return false;
    }

    /// <summary>Returns false if the system did not accept the packet.</summary>
    public bool SendRepair(ReadOnlySpan<byte> packet, DatagramAddress to, in SharedEntry entry)
    {
        var repair = AsRepair(packet, entry);
        int most = paths.Sizes.To(to);
        return OnRepair(
            packet.Length, repair.Length <= most ? context.ControlPort.Send(repair, repair.Length, to) : SendPieces(repair, most, to));
    }

    private SendOutcome SendPieces(ReadOnlySpan<byte> whole, int most, DatagramAddress to)
    {
        var cut = paths.Pieces.Begin(whole, most);
        for (int i = 0; i < cut.Count; i++)
        {
            var piece = cut[i];
            if (context.ControlPort.Send(piece, piece.Length, to) is var outcome && outcome != SendOutcome.Sent)
            {
                return outcome;
            }
        }

        context.Counters.PacketsCut++;
        return SendOutcome.Sent;
    }

    /// <summary>
    /// The data packet with the mark of a repair. The packet that is kept remains unchanged, so this is a copy, valid until the next call.
    /// </summary>
    /// <param name="packet">The packet as it is kept. A shared packet is kept as it came, without its list.</param>
    /// <param name="entry">Which packet it is in which stream.</param>
    public ReadOnlySpan<byte> AsRepair(ReadOnlySpan<byte> packet, in SharedEntry entry)
    {
        if (_repair is null || _repair.Length < packet.Length)
        {
            _repair = new byte[Math.Max(packet.Length, context.Options.PacketBytes)];
        }

        var copy = _repair.AsSpan(0, packet.Length);
        packet.CopyTo(copy);
        if (new PacketHeader(copy).Kind == PacketKind.Shared)
        {
            SharedPacket.MakeData(copy, entry);
        }

        PacketTemplate.AddFlags(copy, PacketFlags.Repair);
        if (context.Options.IsSealed)
        {
            PacketTemplate.CompleteWithoutChecksum(copy);
        }
        else
        {
            PacketTemplate.Seal(copy);
        }

        return copy;
    }

    /// <summary>
    /// Records that a packet was sent again, to one member or to all, after <see cref="MayRepair"/>. Returns false if the system did not
    /// accept it.
    /// </summary>
    /// <param name="bytes">Of all datagrams that this took.</param>
    /// <param name="outcome">What the system has answered.</param>
    public bool OnRepair(int bytes, SendOutcome outcome)
    {
        if (outcome != SendOutcome.Sent)
        {
            return false;
        }

        context.Counters.RepairsSent++;
        Budget.Charge(bytes);
        return true;
    }
}
