using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Transport;

// F25: an interface that is removed and created again under the same address; and how far what is sent to groups goes.
public sealed class InterfaceRenewalTests
{
    private static readonly IPAddress Address = IPAddress.Parse("10.77.0.1");
    private static readonly IPEndPoint Group = new(IPAddress.Parse("239.192.7.7"), 20_077);

    private readonly LogRecorder _log = new();

    [Fact]
    public void A_port_receives_its_group_again_after_its_interface_was_recreated() => OwnNetwork.Run(() =>
    {
        MakeInterface();
        var factory = new DatagramSocketFactory(Address, segmentationOffload: false, new CoreCounters(), _log);
        using var receiver = factory.Open(new DatagramPortOptions { Group = Group.Address, Port = Group.Port });
        using var sender = factory.Open(new DatagramPortOptions { Receives = false });
        Assert.True(Passes(sender, receiver));
        receiver.Renew();
        sender.Renew();
        Assert.False(_log.Has(1006));
        Assert.True(Passes(sender, receiver));

        OwnNetwork.Ip("link delete quick0");
        Assert.False(Passes(sender, receiver));
        receiver.Renew();
        sender.Renew();
        MakeInterface();
        Assert.False(Passes(sender, receiver));

        receiver.Renew();
        sender.Renew();
        Assert.True(_log.Has(1006));
        Assert.True(Passes(sender, receiver));
        receiver.Renew();
        Assert.True(Passes(sender, receiver));
        Assert.Equal(1, _log.Entries.Count(entry => entry.Id == 1006));
    });

    [Fact]
    public void Datagrams_to_groups_pass_as_many_routers_as_they_may()
    {
        var options = new DatagramPortOptions { Receives = false };
        var near = new DatagramSocketFactory(IPAddress.Loopback, false, new CoreCounters(), _log);
        var far = new DatagramSocketFactory(IPAddress.Loopback, false, new CoreCounters(), _log) { TimeToLive = 17 };
        Assert.Equal((1, 17), (TimeToLive(near), TimeToLive(far)));

        int TimeToLive(DatagramSocketFactory factory)
        {
            using var port = factory.Open(options);
            return (int)port.Socket.GetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastTimeToLive)!;
        }
    }

    private static void MakeInterface()
    {
        OwnNetwork.Ip("link add quick0 type veth peer name quick1");
        OwnNetwork.Ip("link set quick1 up");
        OwnNetwork.Ip($"addr add {Address}/24 dev quick0");
        OwnNetwork.Ip("link set quick0 multicast on up");
        OwnNetwork.Ip("route replace 224.0.0.0/4 dev quick0");
    }

    private static bool Passes(DatagramSocket sender, DatagramSocket receiver)
    {
        var lease = new SlabPool(1 << 20).TryRent()!;
        if (sender.Send([1, 2, 3], 3, new DatagramAddress(Group)) != SendOutcome.Sent)
        {
            return false;
        }

        // Within the system it is there when the send returns, or a moment later.
        receiver.Socket.Poll(TimeSpan.FromMilliseconds(200), SelectMode.SelectRead);
        return receiver.TryReceive(lease, 0, 100) == 3;
    }
}
