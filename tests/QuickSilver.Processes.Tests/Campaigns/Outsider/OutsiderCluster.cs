using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Scenarios;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// The cluster of an outsider: of the same name, and with a secret of its own. Its service takes whoever comes; and it tries to get into the
// other one.
internal sealed class OutsiderCluster : IDisposable
{
    private const string Service = "listening";
    private readonly List<NodeProcess> _processes = [];
    private readonly QsmNetwork _network;
    private readonly string _theirSecret;
    private readonly string _secret;
    private readonly string _theirService;
    private readonly NodeProcess _reader;
    private readonly NodeProcess _publisher;
    private int _published;

    public OutsiderCluster(QsmNetwork network, string theirSecret, string secret, string theirService)
    {
        (_network, _theirSecret, _secret, _theirService) = (network, theirSecret, secret, theirService);
        Address = $"{network.Outsider}:{QsmCluster.ServicePort}";
        Start(network.Node, _secret, "gms", "--listen", Address)
            .WaitForErrors(e => e.Text().Contains(Service, StringComparison.Ordinal), "it to listen");
        string[] arguments = ["wall", "--gms", Address, "--interface", $"{network.Outsider}"];
        _reader = Start(network.Node, _secret, ["sub", .. arguments]);
        QsmCluster.WaitUntilReady(_reader);
        _publisher = Start(network.Node, _secret, ["pub", .. arguments]);
    }

    public string Address { get; }

    public void Publish(int lines)
    {
        _publisher.Feed(TestLines.Join(TestLines.Make(lines, first: _published)));
        _published += lines;
    }

    /// <summary>Connections to the other cluster's service, without its secret.</summary>
    public void AttackService(CampaignLog log)
    {
        const int Tries = 20;
        var random = new Random(1);
        var attack = new ServiceAttack(_network, QsmCluster.ServicePort);
        long noise = Enumerable.Range(0, Tries).Sum(_ => attack.SendNoise(random));
        log.Hold(noise <= Tries * 2000, $"{noise} bytes came for {Tries} connections with 2,000 bytes that are no TLS");
        int served = 0;
        var (closed, opened, bytes) = attack.HoldHalfOpen(() => served = Topics(_theirSecret, _theirService, 2).WaitForExit());
        log.Hold(closed == opened, $"{closed} of {opened} half-open connections were closed");
        log.Hold(bytes == 0, $"{bytes} bytes came over half-open connections");
        log.Hold(served == 0, $"a client with the secret was served beside them (exit code {served})");
        long without = attack.SpeakWithoutCertificate();
        log.Hold(without == 0, $"{without} bytes came over TLS to a client without a certificate");
        var other = Topics(_secret, _theirService, _network.Node);
        int code = other.WaitForExit();
        log.Hold(code != 0, $"a client with another secret is refused (exit code {code}): {other.Errors.Tail(1)}");
    }

    /// <summary>Its service and its answers to discovery take nobody in.</summary>
    public void Deceive(CampaignLog log)
    {
        var deceived = Topics(_theirSecret, Address, 2);
        int code = deceived.WaitForExit();
        log.Hold(code != 0, $"a client does not believe the outsider's service (exit code {code}): {deceived.Errors.Tail(1)}");

        // Each hosts a service of the same name, and answers whoever asks.
        string[] lines = TestLines.Make(50, "found");
        var own = Start(_network.Node, _secret, "sub", "found", "--interface", $"{_network.Outsider}");
        QsmCluster.WaitUntilReady(own);
        string theirs = $"{_network.Namespaces.Address(3)}";
        var reader = Start(3, _theirSecret, "sub", "found", "--interface", theirs, "--count", $"{lines.Length}");
        QsmCluster.WaitUntilReady(reader);
        var publisher = Start(2, _theirSecret, "pub", "found", "--interface", $"{_network.Namespaces.Address(2)}");
        publisher.Feed(TestLines.Join(lines));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        reader.ExpectExit(0);
        log.Hold(reader.Output.Text() == TestLines.Join(lines), "nodes without the address of a service find their own");
        log.Hold(own.Output.LineCount == 0 && _reader.Output.LineCount == _published, "the outsider's subscribers got nothing of it");
    }

    public void Dispose() => _processes.ForEach(process => process.Dispose());

    private NodeProcess Topics(string secret, string service, int host) =>
        Start(host, secret, "topics", "--gms", service, "--interface", $"{_network.Namespaces.Address(host)}");

    private NodeProcess Start(int host, string secret, params string[] arguments)
    {
        var process = NodeProcess.StartWithSecret(_network.Namespaces, host, secret, Programs.Qsm, arguments);
        _processes.Add(process);
        return process;
    }
}
