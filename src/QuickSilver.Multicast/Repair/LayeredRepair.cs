using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Repair;

// A scheme above another: the upper one heals whole views, by packets of its own, and what it has not healed within its patience is left to
// the lower one, which guarantees the rest.
internal sealed class LayeredRepair(IRepairScheme upper, IRepairScheme lower) : IRepairScheme
{
    public IReadOnlyList<PacketKind> Kinds { get; } = [.. upper.Kinds, .. lower.Kinds];

    public TimeSpan Patience => upper.Patience > lower.Patience ? upper.Patience : lower.Patience;

    public IRegionRepair? ForRegion(SchemeContext context, IHealedView view) =>
        (upper.ForRegion(context, view), lower.ForRegion(context, view)) switch
        {
            (null, null) => null,
            var (above, below) => new Both(above, below, [.. upper.Kinds]),
        };

    public IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream) =>
        lower.ForReceiver(context, view, stream);

    public ISentRepair? ForSender(SchemeContext context, IStreamOfSender stream) =>
        (upper.ForSender(context, stream), lower.ForSender(context, stream)) switch
        {
            ({ } above, { } below) => new BothSent(above, below),
            var (above, below) => above ?? below,
        };

    // Either may be null. The packets of its scheme then have no reader in this view, although other members may send them.
    private sealed class Both(IRegionRepair? above, IRegionRepair? below, HashSet<PacketKind> ofAbove) : IRegionRepair
    {
        public void OnAccepted(IStreamOfMember stream, long number, ReadOnlySpan<byte> packet)
        {
            above?.OnAccepted(stream, number, packet);
            below?.OnAccepted(stream, number, packet);
        }

        public void OnMissed(IStreamOfMember stream, long first, long last)
        {
            above?.OnMissed(stream, first, last);
            below?.OnMissed(stream, first, last);
        }

        public DropReason OnPacket(in PacketHeader header, NodeKey from) =>
            (ofAbove.Contains(header.Kind) ? above : below)?.OnPacket(header, from) ?? DropReason.UnknownKind;

        public void Close()
        {
            above?.Close();
            below?.Close();
        }
    }

    private sealed class BothSent(ISentRepair above, ISentRepair below) : ISentRepair
    {
        public void OnSent(long first, long last)
        {
            above.OnSent(first, last);
            below.OnSent(first, last);
        }

        public void Close()
        {
            above.Close();
            below.Close();
        }
    }
}
