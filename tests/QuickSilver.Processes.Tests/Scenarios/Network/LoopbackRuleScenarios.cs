using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Without a key or a word, no command leaves the loopback interface; with either, it does.
public sealed class LoopbackRuleScenarios : IDisposable
{
    private const int Usage = 2;

    private static readonly string[] Lines = ["one", "two", "three"];

    // The environment of processes in namespaces says that nothing protects them; not that of these.
    private static readonly string[] Unsaid = ["-u", "QS_SECURITY"];

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qsm-keys-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_command_without_a_key_is_refused_on_a_network_with_the_interface_and_the_three_ways_on()
    {
        using var network = NetworkNamespaces.Create(1);
        using var lab = new ImpairedSwitch(network, 1);
        string address = network.Address(1).ToString();
        string[][] commands =
        [
            ["pub", "lines"], ["sub", "lines"], ["perf", "echo", "lines"], ["swarm", "--nodes", "2"], ["top"], ["nodes"], ["topics"],
            ["dashboard"],
        ];
        foreach (string[] command in commands)
        {
            foreach (string way in (string[])[address, TapDevice.InterfaceName, "auto"])
            {
                string errors = Refuse(network, [.. command, "--interface", way]);
                Assert.Contains($"--security is missing, and the interface is not loopback: {address} ({TapDevice.InterfaceName})", errors);
                Assert.Contains("use --interface 127.0.0.1, the default.", errors);
            }
        }

        Assert.All((string[])[$"{address}:0", "0.0.0.0:0", "[::]:0"], listen =>
        {
            string errors = Refuse(network, ["gms", "--listen", listen]);
            Assert.Contains($"--security is missing, and this address is not loopback: {listen}.", errors);
            Assert.Contains("use --listen 127.0.0.1:0.", errors);
        });
        _ = Refuse(network, ["gms", "--listen", $"{address}:0", "--etcd", "http://127.0.0.1:1"]);
    }

    [Fact]
    public void A_command_that_says_it_by_name_or_has_a_secret_runs_on_a_network()
    {
        using var cluster = new QsmCluster(2);
        Carry(cluster, cluster.Service, "none");

        string secret = Path.Combine(_folder.FullName, "cluster.secret");
        cluster.Start(1, "keys", "secret", "--out", secret).ExpectExit(0);
        var service = new IPEndPoint(cluster.Network.Address(1), QsmCluster.ServicePort + 1);
        cluster.Start(1, "gms", "--listen", service.ToString(), "--security", secret)
            .WaitForErrors(e => e.Text().Contains("listening", StringComparison.Ordinal), "it to listen");
        Carry(cluster, service.ToString(), secret);
    }

    [Fact]
    public void A_doctor_without_a_key_says_that_a_node_would_not_start_and_examines_the_rest()
    {
        using var cluster = new QsmCluster(2);
        var doctor = cluster.StartProgram("env", 2, [.. Unsaid, Programs.Qsm, "doctor", "--gms", cluster.Service, "--interface", "auto"]);
        doctor.ExpectExit(1);
        string text = doctor.Output.Text();
        Assert.Contains("problem      security        ", text);
        Assert.Contains("qsm keys secret --out cluster.secret\n", text);
        Assert.Contains($"ok           service         {cluster.Service} is the service", text);
    }

    private static string Refuse(NetworkNamespaces network, string[] arguments)
    {
        using var process = NodeProcess.Start(network, 1, "env", [.. Unsaid, Programs.Qsm, .. arguments]);
        process.ExpectExit(Usage);
        string errors = process.Errors.Text();
        Assert.Contains("make a secret with 'qsm keys secret --out cluster.secret'", errors);
        Assert.Contains("add --security none.", errors);
        return errors;
    }

    private static void Carry(QsmCluster cluster, string service, string security)
    {
        string[] options = ["lines", "--gms", service, "--security", security];
        var reader = cluster.Start(2, cluster.OnNetwork(2, ["sub", .. options, "--count", $"{Lines.Length}"]));
        QsmCluster.WaitUntilReady(reader);
        var publisher = cluster.Start(1, cluster.OnNetwork(1, ["pub", .. options]));
        publisher.Feed(TestLines.Join(Lines));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        reader.ExpectExit(0);
        Assert.Equal(TestLines.Join(Lines), reader.Output.Text());
    }
}
