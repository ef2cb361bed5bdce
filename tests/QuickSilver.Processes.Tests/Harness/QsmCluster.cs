using System.Net;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Harness;

// N nodes behind an impaired switch, the membership service as a process of its own on node 1, and the tool as the only
// way in: what a user with a shell would have.
internal sealed class QsmCluster : IDisposable
{
    public const int ServicePort = 7411;
    private readonly List<NodeProcess> _processes = [];
    private readonly Func<int, string>? _secretFileOf;
    private readonly (string Certificate, string Authority)? _certificate;

    /// <param name="nodes">How many namespaces there are.</param>
    /// <param name="seed">What the switch draws from.</param>
    /// <param name="impairment">What the network does to frames; null: nothing.</param>
    /// <param name="service">Further arguments of the membership service.</param>
    /// <param name="isIpv6">Whether all addresses are of IPv6.</param>
    /// <param name="secretFileOf">The file with the secret of the processes on a node; null: they have none.</param>
    /// <param name="certificate">The files with the certificate of all processes and its authority; null: they have none.</param>
    public QsmCluster(
        int nodes,
        ulong seed = 1,
        Impairment? impairment = null,
        string[]? service = null,
        bool isIpv6 = false,
        Func<int, string>? secretFileOf = null,
        (string Certificate, string Authority)? certificate = null)
    {
        _secretFileOf = secretFileOf;
        _certificate = certificate;
        // The switch knows runs of IPv4 only.
        Network = NetworkNamespaces.Create(nodes, withRuns: !isIpv6, isIpv6: isIpv6);
        try
        {
            Assert.True(File.Exists(Programs.Qsm), $"the tool is not built: {Programs.Qsm}");
            Switch = new ImpairedSwitch(Network, seed);
            Switch.SetAll(impairment ?? Impairment.None);
            ServiceProcess = Start(1, ["gms", "--listen", Service, .. service ?? []]);
            ServiceProcess.WaitForErrors(e => e.Text().Contains("listening", StringComparison.Ordinal), "it to listen");
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public NetworkNamespaces Network { get; }

    public ImpairedSwitch Switch { get; } = null!;

    public NodeProcess ServiceProcess { get; } = null!;

    /// <summary>The lines of the service's log that report a removal.</summary>
    public string[] Removals =>
        Array.FindAll(ServiceProcess.Errors.Lines(), static line => line.Contains("is removed:", StringComparison.Ordinal));

    public string Service => new IPEndPoint(Network.Address(1), ServicePort).ToString();

    /// <summary>Starts the tool on a node; it ends at the latest with the cluster.</summary>
    public NodeProcess Start(int node, params IEnumerable<string> arguments) => StartProgram(Programs.Qsm, node, arguments);

    public NodeProcess StartProgram(string program, int node, params IEnumerable<string> arguments)
    {
        var process = _secretFileOf is { } secretFileOf
            ? NodeProcess.StartWithSecret(Network, node, secretFileOf(node), program, arguments)
            : _certificate is { } files
            ? NodeProcess.StartWithCertificate(Network, node, files, program, arguments)
            : NodeProcess.Start(Network, node, program, arguments);
        _processes.Add(process);
        return process;
    }

    /// <summary>Starts a command that joins the cluster through the node's own interface.</summary>
    public NodeProcess Join(int node, params IEnumerable<string> arguments) =>
        Start(node, OnNetwork(node, [.. arguments, "--gms", Service]));

    /// <summary>The arguments of a command that uses the node's own interface.</summary>
    public string[] OnNetwork(int node, params IEnumerable<string> arguments) =>
        [.. arguments, "--interface", Network.Address(node).ToString()];

    public NodeProcess Subscribe(int node, params IEnumerable<string> topicsAndOptions)
    {
        // What it prints is compared with what was published.
        var process = Join(node, ["sub", .. topicsAndOptions, "--wait"]);
        WaitUntilReady(process);
        return process;
    }

    public static void WaitUntilReady(NodeProcess process) =>
        process.WaitForErrors(e => e.Lines().Contains("ready"), "it to be ready");

    public void Dispose()
    {
        foreach (var process in _processes)
        {
            process.Dispose();
        }

        Switch?.Dispose();
        Network.Dispose();
    }
}
