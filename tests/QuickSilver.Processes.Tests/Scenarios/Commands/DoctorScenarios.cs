using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// Hosts with one thing wrong each: the doctor names it and nothing else, and what it says fixes it, does.
public sealed class DoctorScenarios
{
    private const int Healthy = 0;
    private const int HasProblem = 1;
    private const int Node = 2;
    private const int Patient = 3;
    private const int DiscoveryPort = 7402;
    private const int GroupPort = 21_007;
    private const string Privileges = "/usr/bin/setpriv";

    // These are of the machine, which tests do not change.
    private static readonly string[] OfMachine = ["clock", "receive buffer", "send buffer", "memory", "descriptors"];

    [Fact]
    public void A_healthy_host_has_nothing_to_fix()
    {
        using var cluster = new QsmCluster(3);
        _ = cluster.Subscribe(Node, "lines");
        Listen(cluster);

        var report = Examine(cluster, Healthy, "--peer", cluster.Network.Address(Node).ToString());
        Assert.Empty(report.Wrong);
        Assert.Contains("with 1 node,", report["service"].Text);
        Assert.Contains("passes both ways", report["multicast"].Text);
        Assert.Contains($"({cluster.Service}) and node", report["udp"].Text);
        Assert.Contains("1472 bytes pass whole", report["path mtu"].Text);
        Assert.Equal("ok", report["nodes"].Status);
    }

    [Fact]
    public void A_healthy_host_of_IPv6_has_nothing_to_fix()
    {
        using var cluster = new QsmCluster(3, isIpv6: true);
        _ = cluster.Subscribe(Node, "lines");

        var report = Examine(cluster, Healthy);
        Assert.Empty(report.Wrong);
        Assert.Contains("is 1500, and packets need 1500.", report["mtu"].Text);
        Assert.Contains("1452 bytes pass whole", report["path mtu"].Text);
    }

    [Fact]
    public void In_a_protected_cluster_the_service_and_the_nodes_are_sent_sealed_echoes()
    {
        using var secret = new SecretFile();
        using var cluster = new QsmCluster(3, secretFileOf: _ => secret.Path);
        _ = cluster.Subscribe(Node, "lines");

        var report = Examine(cluster, Healthy);
        Assert.Empty(report.Wrong);
        foreach (string check in (string[])["udp", "path mtu"])
        {
            var finding = Assert.Single(report.All(check));
            Assert.Equal("ok", finding.Status);
            Assert.Contains($"the service ({cluster.Service}) and node ", finding.Text);
        }

        Assert.Contains("1472 bytes pass whole", report["path mtu"].Text);
    }

    [Fact]
    public void In_a_protected_cluster_the_firewall_of_a_node_that_drops_UDP_is_named_there()
    {
        using var secret = new SecretFile();
        using var cluster = new QsmCluster(3, secretFileOf: _ => secret.Path);
        NftCommand.SkipUnlessUsable(cluster.Network);
        _ = cluster.Subscribe(Node, "lines");
        NftCommand.DropDatagrams(cluster.Network, Node, incoming: true, outgoing: false);

        var report = Examine(cluster, HasProblem);
        Assert.Contains("UDP echoes are not answered by node ", report["udp"].Text);
        Assert.Equal(cluster.Network.Address(Node).ToString(), Assert.Single(report["udp"].Remedies).Where);
    }

    [Fact]
    public void A_service_that_a_node_hosts_is_found_and_the_discovery_port_of_nodes_is_not_blamed()
    {
        using var cluster = new QsmCluster(3);
        var host = cluster.Start(Node, cluster.OnNetwork(Node, "sub", "lines", "--cluster", "own"));
        QsmCluster.WaitUntilReady(host);

        var report = Read(cluster.Start(Patient, cluster.OnNetwork(Patient, "doctor", "--json", "--cluster", "own")), Healthy);
        Assert.Empty(report.Wrong);
        Assert.Equal(("ok", "ok", "ok"), (report["service"].Status, report["udp"].Status, report["discovery port"].Status));
    }

    [Fact]
    public void A_firewall_of_the_host_that_lets_in_answers_only_is_named_and_its_remedies_open_it()
    {
        using var cluster = new QsmCluster(3);
        NftCommand.SkipUnlessUsable(cluster.Network);
        _ = cluster.Subscribe(Node, "lines");
        NftCommand.DropUnsolicited(cluster.Network, Patient);

        var report = Examine(cluster, HasProblem);
        Assert.Equal(["multicast", "udp"], report.Wrong);
        Assert.Contains("not what others send first", report["udp"].Text);
        Apply(cluster, report["udp"]);
        Apply(cluster, report["multicast"]);
        Assert.Empty(Examine(cluster, Healthy).Wrong);
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, false)]
    [InlineData(true, true)]
    [InlineData(false, true)]
    public void A_firewall_of_the_host_that_drops_UDP_is_named_and_its_remedies_open_it(bool incoming, bool isIpv6)
    {
        using var cluster = new QsmCluster(3, isIpv6: isIpv6);
        NftCommand.SkipUnlessUsable(cluster.Network);
        _ = cluster.Subscribe(Node, "lines");
        NftCommand.DropDatagrams(cluster.Network, Patient, incoming, outgoing: !incoming);

        var report = Examine(cluster, HasProblem);
        Assert.Equal(["multicast", "udp"], report.Wrong);
        Apply(cluster, report["udp"]);
        Apply(cluster, report["multicast"]);
        Assert.Empty(Examine(cluster, Healthy).Wrong);
    }

    [Fact]
    public void A_firewall_of_another_host_that_drops_UDP_is_named_there()
    {
        using var cluster = new QsmCluster(3);
        NftCommand.SkipUnlessUsable(cluster.Network);
        NftCommand.DropDatagrams(cluster.Network, 1, incoming: true, outgoing: false);

        var report = Examine(cluster, HasProblem);
        Assert.Equal(["udp"], report.Wrong);
        Assert.Equal(cluster.Network.Address(1).ToString(), Assert.Single(report["udp"].Remedies).Where);
    }

    [Fact]
    public void A_firewall_that_drops_TCP_and_a_service_that_is_not_there_are_distinguished()
    {
        using var cluster = new QsmCluster(3);
        NftCommand.SkipUnlessUsable(cluster.Network);
        string nowhere = $"{cluster.Network.Address(1)}:1";
        var none = Read(cluster.Start(Patient, cluster.OnNetwork(Patient, "doctor", "--json", "--gms", nowhere)), HasProblem);
        Assert.Equal(["service"], none.Wrong);
        Assert.Equal($"qsm gms --listen {nowhere} --cluster 'default' --security none", Assert.Single(none["service"].Remedies).Command);

        NftCommand.DropStreams(cluster.Network, 1);
        var dropped = Examine(cluster, HasProblem);
        Assert.Equal(["service"], dropped.Wrong);
        Assert.Contains("tcp dport", Assert.Single(dropped["service"].Remedies).Command);
    }

    [Fact]
    public void An_interface_with_a_small_MTU_is_named_and_its_remedy_widens_it()
    {
        using var cluster = new QsmCluster(3);
        _ = cluster.Subscribe(Node, "lines");
        Shell(cluster, $"ip link set dev {TapDevice.InterfaceName} mtu 1280");

        var report = Examine(cluster, HasProblem);
        Assert.Equal(["mtu"], report.Wrong);
        Shell(cluster, report["mtu"].Remedies[0].Command);
        Assert.Empty(Examine(cluster, Healthy).Wrong);
    }

    [Fact]
    public void A_path_that_loses_large_packets_is_named_with_the_size_that_passes()
    {
        using var cluster = new QsmCluster(3);
        NftCommand.SkipUnlessUsable(cluster.Network);
        _ = cluster.Subscribe(Node, "lines");
        NftCommand.DropLargeDatagrams(cluster.Network, Node, 1252);

        var report = Examine(cluster, HasProblem);
        Assert.Equal(["path mtu"], report.Wrong);
        Assert.Contains("those of 1252 bytes do (an MTU of 1280)", report["path mtu"].Text);
        Assert.Empty(Examine(cluster, Healthy, "--packet-bytes", "1252").Wrong);
    }

    [Theory]
    [InlineData(true, true, "passes in neither direction")]
    [InlineData(true, false, "of this host does not reach")]
    [InlineData(false, true, "does not reach this host")]
    public void A_network_without_multicast_is_named_with_its_direction(bool there, bool back, string expected)
    {
        using var cluster = new QsmCluster(3);
        Listen(cluster);
        cluster.Switch[Patient, Node] = new Impairment { MulticastOff = there };
        cluster.Switch[Node, Patient] = new Impairment { MulticastOff = back };

        var report = Examine(cluster, HasProblem, "--peer", cluster.Network.Address(Node).ToString());
        Assert.Equal(["multicast"], report.Wrong);
        Assert.Contains(expected, report["multicast"].Text);
    }

    [Fact]
    public void Held_ports_are_named_with_their_holder()
    {
        using var cluster = new QsmCluster(3);
        string holder = $"process {Environment.ProcessId} (";
        using (NamespaceThread.Run(cluster.Network.Name(Patient), () => Hold(DiscoveryPort)))
        {
            var report = Read(cluster.Start(Patient, cluster.OnNetwork(Patient, "doctor", "--json")), HasProblem);
            Assert.Equal(["discovery port"], report.Wrong);
            Assert.Contains($"{DiscoveryPort} ({holder}", report["discovery port"].Text);
        }

        using (NamespaceThread.Run(cluster.Network.Name(Patient), () => Hold(GroupPort)))
        {
            var report = Examine(cluster, Healthy);
            Assert.Equal(["group ports"], report.Wrong);
            Assert.Contains($"{GroupPort} ({holder}", report["group ports"].Text);
        }
    }

    [Fact]
    public void A_receive_buffer_that_the_system_does_not_grant_is_named_with_its_limit()
    {
        const int Asked = 512 << 20;
        using var cluster = new QsmCluster(3);
        long limit = long.Parse(File.ReadAllText("/proc/sys/net/core/rmem_max"));
        Assert.SkipWhen(limit >= Asked, "this machine grants all buffers");
        Assert.SkipUnless(File.Exists(Privileges), "the command `setpriv` is missing");

        string[] command = cluster.OnNetwork(Patient, "doctor", "--json", "--receive-buffer", $"{Asked}");
        string[] without = ["--bounding-set=-net_admin", "--inh-caps=-net_admin", Programs.Qsm, .. command];
        var report = Read(cluster.StartProgram(Privileges, Patient, without), Healthy);
        Assert.Equal("warning", report["receive buffer"].Status);
        Assert.Equal($"sysctl -w net.core.rmem_max={Asked}", Assert.Single(report["receive buffer"].Remedies).Command);
        Assert.DoesNotContain("CAP_NET_ADMIN", report["receive buffer"].Text);

        var privileged = Read(cluster.Start(Patient, command), Healthy);
        Assert.Equal("warning", privileged["receive buffer"].Status);
        Assert.Contains("without the privilege CAP_NET_ADMIN", privileged["receive buffer"].Text);
    }

    [Fact]
    public void The_loopback_interface_is_named_where_the_service_is_elsewhere_and_output_is_plain_where_it_is_redirected()
    {
        using var cluster = new QsmCluster(3);
        var doctor = cluster.Start(Patient, "doctor", "--gms", cluster.Service);
        doctor.ExpectExit(HasProblem);
        string[] lines = doctor.Output.Text().Split('\n');
        Assert.StartsWith("problem      interface       ", lines[0]);
        Assert.Equal($"             qsm doctor --interface {cluster.Network.Address(Patient)}", lines[1]);
        Assert.DoesNotContain('\u001b', doctor.Output.Text());
    }

    private static void Listen(QsmCluster cluster) => cluster
        .Start(Node, cluster.OnNetwork(Node, "doctor", "--listen"))
        .WaitForErrors(e => e.Text().Contains("listening", StringComparison.Ordinal), "it to listen");

    private static Report Examine(QsmCluster cluster, int code, params string[] options) =>
        Read(cluster.Join(Patient, ["doctor", "--json", .. options]), code);

    private static Report Read(NodeProcess doctor, int code)
    {
        doctor.ExpectExit(code);
        return new Report(JsonDocument.Parse(doctor.Output.Text()).RootElement);
    }

    // Those that are for this host.
    private static void Apply(QsmCluster cluster, Found finding)
    {
        var here = finding.Remedies.Where(remedy => remedy.Where is null).ToList();
        Assert.NotEmpty(here);
        here.ForEach(remedy => Shell(cluster, remedy.Command));
    }

    private static void Shell(QsmCluster cluster, string command) =>
        IpCommand.Run("netns", "exec", cluster.Network.Name(Patient), "sh", "-c", command);

    // At all addresses and without SO_REUSEADDR.
    private static Socket Hold(int port)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        socket.Bind(new IPEndPoint(IPAddress.Any, port));
        return socket;
    }

    private sealed record Cure(string Command, string? Where);

    private sealed record Found(string Check, string Status, string Text, IReadOnlyList<Cure> Remedies);

    private sealed class Report(JsonElement json)
    {
        private readonly List<Found> _checks = json.GetProperty("checks").Deserialize<List<Found>>(JsonSerializerOptions.Web)!;

        /// <summary>What is not of the machine and neither in order nor unchecked.</summary>
        public IReadOnlyList<string> Wrong =>
        [
            .. _checks.Where(check => check.Status is "warning" or "problem").Select(check => check.Check).Except(OfMachine),
        ];

        public Found this[string check] => _checks.Single(one => one.Check == check);

        public IReadOnlyList<Found> All(string check) => [.. _checks.Where(one => one.Check == check)];
    }
}
