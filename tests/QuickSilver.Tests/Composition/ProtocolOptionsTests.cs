using QuickSilver.Composition;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Tests.Composition;

public sealed class ProtocolOptionsTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_relations_of_the_protocols_hold_at_the_bounds_of_the_options(bool isSealed)
    {
        var setup = new ProtocolSetup { IsSealed = isSealed };
        int least = NodeOptions.LeastDatagramBytes(isSealed);
        var small = new NodeLimits
        {
            RetentionBytes = NodeOptions.LeastRetentionBytes,
            ReceivedMessageBytes = ReceivedShares.LeastBytes,
            RepairBytesPerSecond = 1 << 16,
        };
        var most = new NodeLimits { RetentionBytes = 4L << 30, ReceivedMessageBytes = 64L << 30, RepairBytesPerSecond = 4L << 30 };
        QuickSilverOptions[] bounds =
        [
            new(),
            new() { PacketBytes = least, Limits = small, StallWarning = TimeSpan.FromMilliseconds(100) },
            new() { PacketBytes = 65_507, Limits = small },
            new() { PacketBytes = 65_507, Limits = most, StallWarning = TimeSpan.FromHours(1) },
        ];
        Assert.All(bounds, options => ProtocolOptions.Of(options, setup).Multicast.Validate());
    }

    [Fact]
    public void A_node_with_credentials_seals_smaller_packets_in_datagrams_of_the_same_size()
    {
        var node = new QuickSilverOptions { Cluster = "sealed" };
        var open = ProtocolOptions.Of(node);
        var credentials = new FixedCredentials(TlsCredentials.Of([Secret.Of("desk", new byte[Secret.LeastKeyBytes])]));
        var closed = ProtocolOptions.Of(node, new ProtocolSetup { Credentials = credentials });
        Assert.Equal((false, false, node.PacketBytes), (open.Multicast.IsSealed, open.Service.IsSealed, open.Multicast.PacketBytes));
        Assert.Equal((true, true), (closed.Multicast.IsSealed, closed.Service.IsSealed));
        Assert.Equal(node.PacketBytes, closed.Multicast.DatagramBytes);
        Assert.Equal(node.PacketBytes - SealedPacket.TrailerBytes, closed.Multicast.PacketBytes);
        Assert.Null(open.Discovery.Keys);
        Assert.NotNull(closed.Discovery.Keys);
        Assert.Same(credentials, closed.Credentials);
    }

    [Fact]
    public void Settings_of_tests_and_experiments_reach_the_layers()
    {
        var experiments = new Experiments { FeedbackRanges = 3, PullsWaitForKeepers = true, TokenInterval = TimeSpan.FromSeconds(1) };
        var setup = new ProtocolSetup
        {
            Experiments = experiments,
            LeastSends = 5,
            PacketsPerKeyEpoch = 100,
            ReassemblyBytes = 32 << 20,
        };
        var options = ProtocolOptions.Of(new QuickSilverOptions(), setup);
        Assert.Same(experiments, options.Multicast.Experiments);
        Assert.Equal((100, 32 << 20), (options.Multicast.PacketsPerKeyEpoch, options.Multicast.ReassemblyBytes));
        Assert.Equal(5, options.Service.TopicAddresses.LeastSends);
    }
}
