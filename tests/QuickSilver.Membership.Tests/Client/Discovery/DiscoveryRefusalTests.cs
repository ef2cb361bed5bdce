using System.Net;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client.Discovery;

// Datagrams of discovery, which any sender can make, that a node does not accept.
public sealed class DiscoveryRefusalTests
{
    private const string Cluster = "default";
    private const int Many = 1_000;

    private readonly ClientCounters _counters = new();
    private readonly LogRecorder _log = new();

    [Fact]
    public void Versions_that_take_turns_do_not_fill_the_log()
    {
        var context = Context(key: null);
        for (int i = 0; i < Many; i++)
        {
            Assert.False(context.TryRead(Question(version: (byte)(ControlFrame.ProtocolVersion + 1 + (i % 2))), out _));
        }

        Assert.Equal(Many, _counters.OtherVersions);
        Assert.InRange(_log.Entries.Count(static entry => entry.Id == 1309), 8, 20);
        Assert.Contains($"version {ControlFrame.ProtocolVersion + 1}", _log.TextOf(1309));
    }

    [Fact]
    public void Each_refused_datagram_is_counted_once_by_its_reason()
    {
        var context = Context(new byte[32]);
        Assert.False(context.TryRead(new byte[64], out _));
        Assert.False(context.TryRead(Question(cluster: "another"), out _));
        Assert.False(context.TryRead(Question(version: ControlFrame.ProtocolVersion + 1), out _));
        Assert.False(context.TryRead(Question(), out _));
        Assert.Equal(
            [(DropReason.ForeignCluster, 2L), (DropReason.UnknownVersion, 1L), (DropReason.NotAuthentic, 1L)],
            _counters.DiscoveryDrops.AsEnumerable());
    }

    private static byte[] Question(byte version = ControlFrame.ProtocolVersion, string cluster = Cluster)
    {
        byte[] bytes = new byte[DiscoveryDatagram.MostBytes];
        var to = new IPEndPoint(IPAddress.Loopback, 5000);
        int length = new DiscoveryDatagram(DiscoveryKind.Question, DiscoveryDatagram.HashOf(cluster), 5, default, to) { Version = version }
            .Write(bytes);
        return bytes[..length];
    }

    private DiscoveryContext Context(byte[]? key) => new(
        new FakeWorld().AddNode(1),
        new DiscoveryOptions { Keys = key is null ? null : () => [key] },
        Cluster,
        _counters,
        _log);
}
