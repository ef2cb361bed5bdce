using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Nodes that host the service themselves. The host cannot be reached over TCP, or loses its address: the others continue with another host,
// and new programs find it. F19, F25.
public sealed class HostReachScenarios : IDisposable
{
    private const int Host = 2;
    private const string Connected = "Connected to the membership service at ";
    private static readonly int[] Others = [3, 4];

    private readonly NetworkNamespaces _network = NetworkNamespaces.Create(5);
    private readonly ImpairedSwitch _switch;
    private readonly List<NodeProcess> _processes = [];
    private SecretFile? _secret;

    public HostReachScenarios()
    {
        _switch = new ImpairedSwitch(_network, seed: 1);
        _switch.SetAll(Impairment.None);
    }

    public void Dispose()
    {
        _processes.ForEach(static process => process.Dispose());
        _switch.Dispose();
        _network.Dispose();
        _secret?.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void When_TCP_to_the_host_is_dropped_the_others_continue_and_new_programs_find_them(bool hasSecret)
    {
        NftCommand.SkipUnlessUsable(_network);
        _secret = hasSecret ? new SecretFile() : null;
        var (_, others) = Start();
        NftCommand.DropStreams(_network, Host);
        RequireThatOthersGoOn(others);
    }

    // It starts before any node can know that the host is not reached, and has the time that a node has for its start by default.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_program_that_starts_as_TCP_to_the_host_is_dropped_starts_and_publishes(bool hasOthers)
    {
        NftCommand.SkipUnlessUsable(_network);
        var host = Subscribe(Host);
        QsmCluster.WaitUntilReady(host);
        NodeProcess[] others = hasOthers ? [.. Others.Select(Subscribe)] : [];
        Array.ForEach(others, QsmCluster.WaitUntilReady);
        NftCommand.DropStreams(_network, Host);
        var late = Subscribe(1);
        QsmCluster.WaitUntilReady(late);
        Publish("after", others.Length + 1);
        foreach (var process in others.Append(late))
        {
            process.WaitForOutput(static o => o.Text().Contains("after", StringComparison.Ordinal), "the message");
        }
    }

    [Fact]
    public void When_the_host_has_another_address_it_ends_and_the_others_continue()
    {
        var (host, others) = Start();
        Readdress(Host, 122);
        Assert.NotEqual(0, host.WaitForExit());
        Assert.Contains(
            $"no interface of this machine has its address {_network.Address(Host)}", host.Errors.Text(), StringComparison.Ordinal);
        RequireThatOthersGoOn(others);
        var back = Subscribe(Host);
        QsmCluster.WaitUntilReady(back);
    }

    [Fact]
    public void A_member_that_has_another_address_ends_and_the_others_continue()
    {
        var (host, others) = Start();
        Readdress(Others[0], 123);
        Assert.NotEqual(0, others[0].WaitForExit());
        Publish("after");
        host.WaitForOutput(static o => o.Text().Contains("after", StringComparison.Ordinal), "the message");
        others[1].WaitForOutput(static o => o.Text().Contains("after", StringComparison.Ordinal), "the message");
    }

    private (NodeProcess Host, NodeProcess[] Others) Start()
    {
        var host = Subscribe(Host);
        QsmCluster.WaitUntilReady(host);
        NodeProcess[] others = [.. Others.Select(Subscribe)];
        Array.ForEach(others, QsmCluster.WaitUntilReady);
        Publish("before");
        foreach (var process in others.Append(host))
        {
            process.WaitForOutput(static o => o.Text().Contains("before", StringComparison.Ordinal), "the message");
        }

        return (host, others);
    }

    // A program that starts while no service can be reached may end before there is one.
    private void RequireThatOthersGoOn(NodeProcess[] others)
    {
        foreach (var process in others)
        {
            process.WaitForErrors(static errors => errors.Text().Split(Connected).Length > 2, "another service");
        }

        Publish("after");
        foreach (var process in others)
        {
            process.WaitForOutput(static o => o.Text().Contains("after", StringComparison.Ordinal), "the message");
        }
    }

    // A new program: it finds the cluster, publishes, and ends.
    private void Publish(string text, int receivers = 2)
    {
        var publisher = Run(1, "pub", "t", "--receivers", $"{receivers}");
        publisher.Feed($"{text}\n");
        publisher.CloseInput();
        publisher.ExpectExit(0);
    }

    private NodeProcess Subscribe(int node) => Run(node, "sub", "t", "--wait", "--verbose");

    private NodeProcess Run(int node, params string[] arguments)
    {
        string[] security = _secret is null ? [] : ["--security", _secret.Path];
        var process = NodeProcess.Start(
            _network, node, Programs.Qsm, [.. arguments, "--interface", TapDevice.InterfaceName, .. security]);
        _processes.Add(process);
        return process;
    }

    private void Readdress(int node, byte last)
    {
        byte[] address = _network.Address(node).GetAddressBytes();
        address[^1] = last;
        string name = _network.Name(node);
        IpCommand.Run("-n", name, "address", "flush", "dev", TapDevice.InterfaceName);
        IpCommand.Run("-n", name, "address", "add", $"{new IPAddress(address)}/24", "dev", TapDevice.InterfaceName);
        IpCommand.Run("-n", name, "route", "replace", "224.0.0.0/4", "dev", TapDevice.InterfaceName);
    }
}
