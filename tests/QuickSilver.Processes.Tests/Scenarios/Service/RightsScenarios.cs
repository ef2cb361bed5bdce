using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// A node that may not publish is refused by the service, and where the service lets it in, by the receivers. Every process has a
// certificate.
public sealed class RightsScenarios : IDisposable
{
    private const int Messages = 500;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-rights-");
    private readonly List<NodeProcess> _processes = [];
    private readonly NetworkNamespaces _network;
    private readonly ImpairedSwitch _switch;

    public RightsScenarios()
    {
        _network = NetworkNamespaces.Create(4);
        _switch = new ImpairedSwitch(_network);
        Run("keys", "authority", "--out", Authority);
    }

    private string Authority => Path.Combine(_folder.FullName, "authority.pem");

    [Fact]
    public void The_service_refuses_a_publisher_without_the_right_and_names_it()
    {
        string rights = Path.Combine(_folder.FullName, "rights.json");
        File.WriteAllText(rights, """{ "rules": [ { "topic": "prices/", "publish": ["pricer"], "subscribe": ["*"] } ] }""");
        string service = $"{_network.Address(1)}:{QsmCluster.ServicePort}";
        var gms = Start(1, "gms", "service", Programs.Qsm, "gms", "--listen", service, "--rights", rights, "--verbose");
        gms.WaitForErrors(e => e.Text().Contains("listening", StringComparison.Ordinal), "it to listen");
        var reader = Start(2, "reader", "node", Programs.Qsm, ["sub", "prices/eur", "--count", "1", .. At(2, service)]);
        QsmCluster.WaitUntilReady(reader);

        var refused = Start(3, "liar", "node", Programs.Qsm, ["pub", "prices/eur", .. At(3, service)]);
        refused.CloseInput();
        refused.ExpectExit(1);
        Assert.Contains("'liar' may not publish in the topic 'prices/eur'", refused.Errors.Text(), StringComparison.Ordinal);
        gms.WaitForErrors(e => e.Text().Contains("Denied 'liar'", StringComparison.Ordinal), "the record of it");

        var publisher = Start(4, "pricer", "node", Programs.Qsm, ["pub", "prices/eur", .. At(4, service)]);
        publisher.Feed("1.08\n");
        publisher.CloseInput();
        publisher.ExpectExit(0);
        reader.ExpectExit(0);
        Assert.Equal("1.08\n", reader.Output.Text());
    }

    [Fact]
    public void Receivers_drop_what_a_member_without_the_right_publishes()
    {
        var host = Node(1, "host", "both");
        var liar = Node(3, "liar", "node");
        var publisher = Node(4, "pricer", "node");
        var reader = Node(2, "reader", "node");
        StreamNodes.Do(reader, "subscribe prices reliable handler", "subscribed prices");

        // From here on the service admits all nodes: the liar gets all that a publisher needs. The reader got the rights before.
        StreamNodes.Do(host, "admit", "admits");
        StreamNodes.Do(liar, "open prices reliable 1", "open prices");
        StreamNodes.Do(publisher, "open prices reliable 1", "open prices");
        StreamNodes.Do(liar, $"publish prices {Messages} 500", $"published prices {Messages}");
        StreamNodes.Do(publisher, $"publish prices {Messages} 500", $"published prices {Messages}");
        Assert.Equal($"has prices {Messages} 0", StreamNodes.Ask(reader, $"expect prices 1 {Messages}", "has prices"));
        liar.CloseInput();
        liar.ExpectExit(0);

        Assert.Equal($"taken prices {Messages}", StreamNodes.Ask(reader, "taken prices", "taken prices"));
        reader.WaitForErrors(
            e => e.Text().Contains("publishes in topic \"prices\" without the right", StringComparison.Ordinal), "the warning");
    }

    public void Dispose()
    {
        _processes.ForEach(process => process.Dispose());
        _switch.Dispose();
        _network.Dispose();
        _folder.Delete(recursive: true);
    }

    private string[] At(int host, string service) => ["--gms", service, "--interface", $"{_network.Address(host)}"];

    private NodeProcess Node(int host, string identity, string role)
    {
        var node = Start(host, identity, role, Programs.StreamNode, role == "both" ? "host" : "find", $"{_network.Address(host)}", "0");
        StreamNodes.WaitFor(node, "ready");
        return node;
    }

    private NodeProcess Start(int host, string identity, string role, string program, params string[] arguments)
    {
        string certificate = Path.Combine(_folder.FullName, identity + ".pem");
        Run("keys", "certificate", "--authority", Authority, "--name", identity, "--role", role, "--out", certificate);
        var process = NodeProcess.StartWithCertificate(_network, host, (certificate, Authority), program, arguments);
        _processes.Add(process);
        return process;
    }

    private static void Run(params string[] arguments)
    {
        var (code, _, errors) = LimitedProcess.Run(new System.Diagnostics.ProcessStartInfo(Programs.Qsm, arguments));
        Assert.True(code == 0, errors);
    }
}
