using System.Net;
using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Tests.Dispatch;

namespace QuickSilver.Multicast.Tests.Hybrid;

// When a node opens and closes the ports of topics' addresses.
public sealed class TopicPortsTests
{
    private const ulong Topic = 5;
    private static readonly IPEndPoint First = new(IPAddress.Parse("239.2.0.1"), 25_001);
    private static readonly IPEndPoint Second = new(IPAddress.Parse("239.2.0.2"), 25_002);

    private readonly DispatchBench _bench = new();
    private readonly TopicPorts _ports;

    public TopicPortsTests() => _ports = new TopicPorts(_bench.Context.Receiving, _bench.Splitter);

    [Fact]
    public void A_port_stays_open_until_all_have_confirmed_that_its_address_was_withdrawn()
    {
        Apply(4, First);
        Apply(5, null);
        Apply(6, null);
        _ports.OnSettled(4);
        Assert.Equal([First.Address], Open());
        Assert.Equal(0, _ports.Count);

        _ports.OnSettled(5);
        Assert.Empty(Open());
    }

    [Fact]
    public void An_address_that_is_given_again_before_that_keeps_its_port()
    {
        Apply(4, First);
        Apply(5, null);
        Apply(6, First);
        _ports.OnSettled(6);
        Assert.Equal([First.Address], Open());
        Assert.Single(_bench.Environment.Opened);
    }

    [Fact]
    public void A_topic_with_a_new_address_is_received_at_both_until_all_know_the_new_one()
    {
        Apply(4, First);
        Apply(5, Second);
        Assert.Equal([First.Address, Second.Address], Open());

        _ports.OnSettled(5);
        Assert.Equal([Second.Address], Open());
    }

    [Fact]
    public void A_node_that_sends_by_unicast_only_opens_none()
    {
        var bench = new DispatchBench(new MulticastOptions { ClusterId = DispatchBench.Cluster, Unicast = true });
        new TopicPorts(bench.Context.Receiving, bench.Splitter).Apply(4, static _ => First, [Topic]);
        Assert.Empty(bench.Environment.Opened);
    }

    private void Apply(long configuration, IPEndPoint? address) => _ports.Apply(configuration, _ => address, [Topic]);

    private IEnumerable<IPAddress?> Open() =>
        _bench.Environment.Opened.Where(static one => !one.Port.IsClosed).Select(static one => one.Group);
}
