using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Tests.Dispatch;

namespace QuickSilver.Multicast.Tests.Nodes.Packets;

public sealed class PacketExchangeTests
{
    private static readonly RegionView View = new()
    {
        RegionId = DispatchBench.Region,
        Number = DispatchBench.View,
        Configuration = 1,
        Group = null,
        Members = [DispatchBench.Self, DispatchBench.Sender],
    };

    [Fact]
    public void A_handler_may_send_before_it_has_read_a_packet_from_its_own_node()
    {
        var bench = new DispatchBench();
        var exchange = new PacketExchange(bench.Context, bench.Dispatcher.Handlers);
        var echo = new Echo(exchange);
        exchange.Register(PacketKinds.FirstOfProtocols, "Echo", echo);

        Assert.True(exchange.TrySend(PacketKinds.FirstOfProtocols, View, DispatchBench.Self, 7, [1, 2, 3]));

        Assert.Equal((7, "1 2 3"), (echo.Number, echo.Body));
    }

    private sealed class Echo(PacketExchange exchange) : IPacketHandler
    {
        public long Number { get; private set; }

        public string? Body { get; private set; }

        public DropReason OnPacket(in PacketHeader header, NodeKey sender)
        {
            exchange.TrySend(PacketKinds.FirstOfProtocols, View, DispatchBench.Sender, 8, [9, 9, 9]);
            Number = header.Sequence;
            Body = string.Join(' ', header.Body.ToArray());
            return DropReason.None;
        }
    }
}
