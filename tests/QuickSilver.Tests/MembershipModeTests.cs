using System.Diagnostics.Metrics;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// The machine's own nodes, on the loopback interface, each test in a cluster that no other run shares.
public sealed class MembershipModeTests
{
    [Fact]
    public async Task A_node_that_only_finds_does_not_host_and_says_so()
    {
        var options = NewOptions(MembershipMode.Find).Copy(static copy => copy.StartTimeout = TimeSpan.FromSeconds(1));
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => QuickSilverNode.StartAsync(options));
        Assert.Contains("this node does not host one, because Membership:Mode is Find", failure.Message);
        // Nothing else shows it to a node with a wrong secret.
        Assert.Contains("one with another secret does not answer", failure.Message);
    }

    [Fact]
    public async Task A_node_that_only_finds_joins_one_that_hosts()
    {
        var options = NewOptions(MembershipMode.Find);
        var hosting = options.Copy(static copy => copy.Membership.Mode = MembershipMode.Host);
        var finding = QuickSilverNode.StartAsync(options);
        await using var host = await QuickSilverNode.StartAsync(hosting).OrFail();
        await using var finder = await finding.OrFail();
        await using var sent = await finder.OpenPublisherAsync<string>("t").OrFail();
        await using var received = await host.OpenSubscriberAsync<string>("t").OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
        Assert.Equal("127.0.0.1", host.Status.Interface!.Split(' ')[0]);
    }

    [Fact]
    public async Task A_node_that_may_host_warns_of_a_topic_that_requires_a_quorum()
    {
        var logs = new RecordingLogs();
        await using var node = await QuickSilverNode.StartAsync(NewOptions(MembershipMode.FindOrHost), logs).OrFail();
        await using var topic = await node.OpenTopicAsync<string>("t", new TopicOptions { RequireQuorum = true }).OrFail();
        Assert.Single(logs.Entries, static entry => entry.Id == 1630);
        await topic.PublishAsync("accepted").OrFail();
    }

    [Fact]
    public async Task Two_nodes_that_host_at_once_become_one_cluster()
    {
        var options = NewOptions(MembershipMode.Host);
        var starting = new[] { QuickSilverNode.StartAsync(options), QuickSilverNode.StartAsync(options) };
        await using var one = await starting[0].OrFail();
        await using var other = await starting[1].OrFail();
        await using var sent = await one.OpenPublisherAsync<string>("t").OrFail();
        await using var received = await other.OpenSubscriberAsync<string>("t").OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
    }

    [Fact]
    public async Task A_discovery_port_that_another_program_holds_fails_the_start_with_the_port_its_holder_and_what_to_do()
    {
        // Elsewhere this process may share a port that it holds.
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux tells who holds a port.");
        using var holder = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        holder.Bind(new IPEndPoint(IPAddress.Any, 0));
        int port = ((IPEndPoint)holder.LocalEndPoint!).Port;
        var options = NewOptions(MembershipMode.FindOrHost).Copy(copy => copy.DiscoveryPort = port);
        var failure = await Assert.ThrowsAsync<PortInUseException>(() => QuickSilverNode.StartAsync(options));
        Assert.Equal(port, failure.Port);
        Assert.StartsWith($"process {Environment.ProcessId} (", failure.Holder);
        Assert.StartsWith($"The UDP port {port}, at which this node would be discovered (DiscoveryPort), is in use by ", failure.Message);
        Assert.Contains(failure.Holder!, failure.Message);

        var finding = options.Copy(static copy =>
        {
            copy.Membership.Mode = MembershipMode.Find;
            copy.StartTimeout = TimeSpan.FromMilliseconds(200);
        });
        await Assert.ThrowsAsync<MembershipUnreachableException>(() => QuickSilverNode.StartAsync(finding));
    }

    [Fact]
    public async Task Two_nodes_of_one_cluster_in_one_process_have_metrics_of_their_own()
    {
        var options = NewOptions(MembershipMode.FindOrHost);
        await using var one = await QuickSilverNode.StartAsync(options).OrFail();
        await using var other = await QuickSilverNode.StartAsync(options).OrFail();
        await using var topic = await one.OpenPublisherAsync<string>("t").OrFail();
        await topic.PublishAsync("x", PublishCompletion.Stable).OrFail();
        var published = new Dictionary<string, long>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == "QuickSilver" && instrument.Name == "messaging.client.sent.messages")
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>(
            (instrument, value, tags, _) =>
            {
                if (tags.ToArray().Contains(new KeyValuePair<string, object?>("quicksilver.cluster", options.Cluster)))
                {
                    published.Add((string)tags.ToArray().Single(static tag => tag.Key == "quicksilver.node.id").Value!, value);
                }
            });
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal(
            new Dictionary<string, long> { [one.Id.ToString()] = 1, [other.Id.ToString()] = 0 }, published);
    }

    private static QuickSilverOptions NewOptions(MembershipMode mode) =>
        new() { Cluster = $"mode {Guid.NewGuid():N}", Membership = { Mode = mode } };
}
