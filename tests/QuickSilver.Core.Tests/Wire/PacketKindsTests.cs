using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

public sealed class PacketKindsTests
{
    [Theory]
    [InlineData((byte)PacketKind.Data, PacketClass.Data)]
    [InlineData((byte)PacketKind.Shared, PacketClass.Data)]
    [InlineData((byte)PacketKind.Announce, PacketClass.Control)]
    [InlineData((byte)PacketKind.Token, PacketClass.Control)]
    [InlineData((byte)PacketKind.Pull, PacketClass.Control)]
    [InlineData((byte)PacketKind.Piece, PacketClass.Control)]
    [InlineData(31, PacketClass.Control)]
    [InlineData(32, PacketClass.Control)]
    [InlineData(47, PacketClass.Control)]
    [InlineData(48, PacketClass.Repair)]
    [InlineData(55, PacketClass.Repair)]
    [InlineData(56, PacketClass.Data)]
    [InlineData(63, PacketClass.Data)]
    public void The_class_of_a_kind_follows_from_its_number(byte kind, object expected) =>
        Assert.Equal((PacketClass)expected, PacketKinds.ClassOf((PacketKind)kind));

    [Fact]
    public void Kinds_of_the_library_and_of_protocols_do_not_overlap()
    {
        Assert.All(Enum.GetValues<PacketKind>(), kind => Assert.False(PacketKinds.IsOfProtocol(kind)));
        Assert.Equal(32, Enumerable.Range(0, 256).Count(kind => PacketKinds.IsOfProtocol((PacketKind)kind)));
    }
}
