using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Tests.Dispatch;

namespace QuickSilver.Multicast.Tests.Nodes.Packets;

public sealed class PacketHandlersTests
{
    private readonly PacketHandlers _handlers = new();
    private readonly DispatchBench.RecordingHandler _handler = new();

    [Fact]
    public void A_kind_of_a_protocol_has_the_handler_that_is_registered_and_no_other_kind_has()
    {
        _handlers.Register(PacketKinds.FirstRepair, "Healing", _handler, keepsEarly: true);

        Assert.Same(_handler, _handlers.Find(PacketKinds.FirstRepair));
        Assert.True(_handlers.KeepsEarly(PacketKinds.FirstRepair));
        Assert.All(
            Enumerable.Range(0, 256).Select(kind => (PacketKind)kind).Where(kind => kind != PacketKinds.FirstRepair),
            kind => Assert.Null(_handlers.Find(kind)));
    }

    [Fact]
    public void Handlers_of_the_layer_stay_when_a_protocol_registers_one()
    {
        _handlers.Register(PacketKind.Token, _handler);
        _handlers.Register(PacketKinds.FirstControl, "Groups", new DispatchBench.RecordingHandler());

        Assert.Same(_handler, _handlers.Find(PacketKind.Token));
        Assert.False(_handlers.KeepsEarly(PacketKind.Token));
        Assert.True(_handlers.KeepsEarly(PacketKind.Data));
    }

    [Fact]
    public void A_kind_belongs_to_one_protocol_and_the_exception_names_it()
    {
        _handlers.Register(PacketKinds.FirstControl, "Groups", _handler);

        var refused = Assert.Throws<ArgumentException>(() => _handlers.Register(PacketKinds.FirstControl, "Overlays", _handler));

        Assert.StartsWith("Overlays registers packets of kind 32, which belong to Groups. Use another number.", refused.Message);
    }

    [Theory]
    [InlineData(0)]
    [InlineData((byte)PacketKind.Token)]
    [InlineData(31)]
    [InlineData(64)]
    public void A_number_outside_of_the_range_of_protocols_is_refused(byte kind)
    {
        var refused = Assert.Throws<ArgumentException>(() => _handlers.Register((PacketKind)kind, "Groups", _handler));

        Assert.StartsWith(
            $"Groups registers packets of kind {kind}. Kinds of protocols have the numbers 32 to 63.", refused.Message);
    }
}
