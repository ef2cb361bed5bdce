using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Tests.Ordering;

// The body of a credit packet is read as it was written, and no bytes make a reader throw (T9, T11).
public sealed class CreditPacketTests
{
    private static readonly PacketTemplate Template = new(1, 2, 3, 0, 0);

    [Fact]
    public void A_credit_names_topics_and_numbers()
    {
        var packet = new byte[CreditPacket.MaxBytes];
        (ulong, long)[] entries = [(7, 41), (8, CreditPacket.Unlimited)];

        int bytes = CreditPacket.Write(packet, Template, stamp: 12, entries);

        Assert.Equal(DropReason.None, PacketHeader.Validate(packet.AsSpan(0, bytes), cluster: 1));
        var header = new PacketHeader(packet.AsSpan(0, bytes));
        Assert.Equal(PacketKind.Credit, header.Kind);
        Assert.Equal(12, header.Sequence);
        Assert.True(CreditPacket.TryRead(header.Body, out int count));
        Assert.Equal(entries, Enumerable.Range(0, count).Select(i => CreditPacket.Entry(packet.AsSpan(PacketHeader.Bytes), i)));
    }

    [Fact]
    public void As_many_topics_as_may_be_fit_into_the_smallest_packet()
    {
        Assert.InRange(CreditPacket.MaxBytes, 1, MulticastOptions.MinPacketBytes);
        var packet = new byte[CreditPacket.MaxBytes];
        Assert.Equal(packet.Length, CreditPacket.Write(packet, Template, 1, new (ulong, long)[CreditPacket.MaxEntries]));
    }

    [Fact]
    public void A_body_that_ends_too_soon_or_names_too_many_is_refused()
    {
        var packet = new byte[CreditPacket.MaxBytes];
        CreditPacket.Write(packet, Template, 1, new (ulong, long)[2]);
        var body = packet.AsSpan(PacketHeader.Bytes);
        Assert.False(CreditPacket.TryRead(body[..33], out _));
        Assert.False(CreditPacket.TryRead(body[..1], out _));
        Assert.False(CreditPacket.TryRead([0, 0], out _));
        body[1] = 200;
        Assert.False(CreditPacket.TryRead(body, out _));
    }
}
