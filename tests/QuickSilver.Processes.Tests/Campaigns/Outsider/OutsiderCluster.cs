using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// The cluster of an outsider: of the same name, and with a secret or certificates of its own. Its service admits every node; and it tries
// to get into the other one.
internal sealed class OutsiderCluster : IDisposable
{
    private const string Service = "listening";
    // As its log says of each node that it takes in.
    private const string Joined = " joined with ";
    private const string Yields = " yields to ";
    private const string NotProved = "has not proved that it is one";
    // What repeats is logged eight times, and then each time that its count has doubled.
    private const int MostToldOfProofs = 20;
    private readonly List<NodeProcess> _processes = [];
    private readonly QsmNetwork _network;
    private readonly ClusterKeys _theirKeys;
    private readonly ClusterKeys _keys;
    private readonly string _theirService;
    private readonly NodeProcess _service;
    private readonly NodeProcess _reader;
    private readonly NodeProcess _publisher;
    private int _published;

    public OutsiderCluster(QsmNetwork network, ClusterKeys theirKeys, ClusterKeys keys, string theirService)
    {
        (_network, _theirKeys, _keys, _theirService) = (network, theirKeys, keys, theirService);
        Address = $"{network.Outsider}:{QsmCluster.ServicePort}";
        _service = Start(network.Node, _keys, "gms", "--listen", Address, "--verbose");
        _service.WaitForErrors(e => e.Text().Contains(Service, StringComparison.Ordinal), "it to listen");
        string[] arguments = ["wall", "--gms", Address, "--interface", $"{network.Outsider}"];
        _reader = Start(network.Node, _keys, ["sub", "--wait", .. arguments]);
        QsmCluster.WaitUntilReady(_reader);
        _publisher = Start(network.Node, _keys, ["pub", .. arguments]);
    }

    public string Address { get; }

    public void Publish(int lines)
    {
        _publisher.Feed(TestLines.Join(TestLines.Make(lines, first: _published)));
        _published += lines;
    }

    /// <summary>Connections to the other cluster's service, without its secret or a certificate of its authority.</summary>
    public void AttackService(CampaignLog log)
    {
        const int Tries = 20;
        var random = new Random(1);
        var attack = new ServiceAttack(_network, QsmCluster.ServicePort);
        long noise = Enumerable.Range(0, Tries).Sum(_ => attack.SendNoise(random));
        log.Hold(noise <= Tries * 2000, $"{noise} bytes came for {Tries} connections with 2,000 bytes that are no TLS");
        int served = 0;
        var (closed, opened, bytes) = attack.HoldHalfOpen(() => served = Topics(_theirKeys, _theirService, 2).WaitForExit());
        log.Hold(closed == opened, $"{closed} of {opened} half-open connections were closed");
        log.Hold(bytes == 0, $"{bytes} bytes came over half-open connections");
        log.Hold(served == 0, $"a client with the keys of the cluster was served beside them (exit code {served})");
        long without = attack.SpeakWithoutCertificate();
        log.Hold(without == 0, $"{without} bytes came over TLS to a client without a certificate");
        var other = Topics(_keys, _theirService, _network.Node);
        int code = other.WaitForExit();
        log.Hold(code != 0, $"a client with other keys is refused (exit code {code}): {other.Errors.Tail(1)}");
    }

    /// <summary>Its service and its answers to discovery deceive no node.</summary>
    public void Deceive(CampaignLog log)
    {
        var deceived = Topics(_theirKeys, Address, 2);
        int code = deceived.WaitForExit();
        log.Hold(code != 0, $"a client does not trust the outsider's service (exit code {code}): {deceived.Errors.Tail(1)}");

        // Each hosts a service of the same name, and answers every question.
        string[] lines = TestLines.Make(50, "found");
        var own = Start(_network.Node, _keys, "sub", "found", "--interface", $"{_network.Outsider}", "--verbose");
        QsmCluster.WaitUntilReady(own);
        // With a secret, no node would read its answers.
        using var liar = _keys.Certificate is null ? null : new DiscoveryLiar(_network, QsmCluster.ServicePort);
        string theirs = $"{_network.Namespaces.Address(3)}";
        var reader = Start(3, _theirKeys, "sub", "found", "--interface", theirs, "--count", $"{lines.Length}", "--verbose");
        QsmCluster.WaitUntilReady(reader);
        var publisher = Start(2, _theirKeys, "pub", "found", "--interface", $"{_network.Namespaces.Address(2)}");
        publisher.Feed(TestLines.Join(lines));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        reader.ExpectExit(0);
        log.Hold(reader.Output.Text() == TestLines.Join(lines), "nodes without the address of a service find their own");
        log.Hold(own.Output.LineCount == 0 && _reader.Output.LineCount == _published, "the outsider's subscribers got nothing of it");
        int joined = Count(_service, Joined) + Count(own, Joined);
        log.Hold(joined == 3, $"{joined} nodes joined the outsider's services, which has three of its own");
        log.Hold(
            Count(own, Yields) + Count(reader, Yields) == 0 && Count(reader, Joined) == 2,
            "no host of a service ended for one of the other's");
        if (liar is not null)
        {
            int told = Count(reader, NotProved);
            log.Hold(
                told is > 0 and <= MostToldOfProofs,
                $"{liar.Answers} answers were forged, and the host reported {told} times hosts that had not proved themselves");
        }
    }

    public void Dispose() => _processes.ForEach(process => process.Dispose());

    private static int Count(NodeProcess process, string text) =>
        process.Errors.Lines().Count(line => line.Contains(text, StringComparison.Ordinal));

    private NodeProcess Topics(ClusterKeys keys, string service, int host) =>
        Start(host, keys, "topics", "--gms", service, "--interface", $"{_network.Namespaces.Address(host)}");

    private NodeProcess Start(int host, ClusterKeys keys, params string[] arguments)
    {
        var process = keys.Start(_network.Namespaces, host, Programs.Qsm, arguments);
        _processes.Add(process);
        return process;
    }
}
