using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Tests.Repair;

public sealed class LayeredRepairTests
{
    private const PacketKind OfUpper = PacketKinds.FirstRepair;
    private const PacketKind OfLower = PacketKinds.FirstRepair + 1;

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void A_part_of_a_view_gets_packets_of_the_kinds_of_its_own_scheme_only(bool hasUpper, bool hasLower)
    {
        var (upper, lower) = (new Scheme(OfUpper, hasUpper), new Scheme(OfLower, hasLower));
        var region = new LayeredRepair(upper, lower).ForRegion(null!, null!)!;

        Assert.Equal(hasUpper ? DropReason.None : DropReason.UnknownKind, Offer(region, OfUpper));
        Assert.Equal(hasLower ? DropReason.None : DropReason.UnknownKind, Offer(region, OfLower));
        Assert.Equal(hasUpper ? [OfUpper] : [], upper.Came);
        Assert.Equal(hasLower ? [OfLower] : [], lower.Came);
    }

    private static DropReason Offer(IRegionRepair region, PacketKind kind)
    {
        var packet = new byte[PacketHeader.Bytes];
        new PacketTemplate(7, 2, 1, 1, 1).Write(packet, kind, PacketFlags.None, 1, 0, 0);
        return region.OnPacket(new PacketHeader(packet), new NodeKey(2, 1));
    }

    private sealed class Scheme(PacketKind kind, bool hasRegion) : IRepairScheme, IRegionRepair
    {
        public List<PacketKind> Came { get; } = [];

        public IReadOnlyList<PacketKind> Kinds { get; } = [kind];

        public IRegionRepair? ForRegion(SchemeContext context, IHealedView view) => hasRegion ? this : null;

        public IRepairStrategy ForReceiver(SchemeContext context, IViewOfMember view, IRepairedStream stream) =>
            throw new NotSupportedException();

        public void OnAccepted(IStreamOfMember stream, long number, ReadOnlySpan<byte> packet)
        {
        }

        public void OnMissed(IStreamOfMember stream, long first, long last)
        {
        }

        public DropReason OnPacket(in PacketHeader header, NodeKey from)
        {
            Came.Add(header.Kind);
            return DropReason.None;
        }

        public void Close()
        {
        }
    }
}
