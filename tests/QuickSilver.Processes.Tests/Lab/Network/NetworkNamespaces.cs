using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Lab.Network;

// Nodes 1..N, each a network namespace with one device e0 at 10.99.x.i/24 whose other end is a TAP that a switch holds.
// Neighbours are static, so that no lost ARP frame stalls a test for a second, and IPv6 is off, so that nothing chatters. Or it is the
// only one, at fd99:x::i/64.
// All is removed on disposal, when the constructor fails half-way, and when the test process exits.
internal sealed class NetworkNamespaces : IDisposable
{
    public const int MaxNodes = 32;
    private const int TransmitQueueFrames = 4000;
    private readonly string _prefix = "qs" + RandomNumberGenerator.GetHexString(8, lowercase: true) + "-";
    private readonly List<string> _names = [];
    private readonly List<TapDevice> _taps = [];
    private bool _disposed;

    private NetworkNamespaces(int nodes, byte subnet, int mtu, bool withRuns, bool isIpv6)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(nodes, MaxNodes);
        Subnet = subnet;
        Count = nodes;
        IsIpv6 = isIpv6;
        AppDomain.CurrentDomain.ProcessExit += OnProcessExit;
        try
        {
            for (var node = 1; node <= nodes; node++)
            {
                Add(node, mtu, withRuns);
            }
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public int Count { get; }

    public byte Subnet { get; }

    public bool IsIpv6 { get; }

    /// <summary>Skips the running test, with the reason, where the machine cannot do this.</summary>
    public static NetworkNamespaces Create(int nodes, byte subnet = 1, int mtu = 1500, bool withRuns = true, bool isIpv6 = false)
    {
        LabRequirement.SkipUnlessMet();
        try
        {
            return new NetworkNamespaces(nodes, subnet, mtu, withRuns, isIpv6);
        }
        catch (IpCommandException exception) when (exception.Message.Contains("not permitted", StringComparison.Ordinal))
        {
            Assert.Skip("this root may not make network namespaces: " + exception.Message);
            throw;
        }
    }

    public string Name(int node) => _names[node - 1];

    public TapDevice Tap(int node) => _taps[node - 1];

    public IPAddress Address(int node) => IsIpv6
        ? IPAddress.Parse(string.Create(CultureInfo.InvariantCulture, $"fd99:{Subnet}::{node}"))
        : new IPAddress([10, 99, Subnet, (byte)node]);

    /// <summary>The hardware address of a node; its last byte is the node's number.</summary>
    public byte[] HardwareAddress(int node) => [0x02, 0x71, 10, 99, Subnet, (byte)node];

    /// <summary>Runs a function on a thread of its own inside a node's namespace, for instance to open a socket there.</summary>
    public T Run<T>(int node, Func<T> function) => NamespaceThread.Run(Name(node), function);

    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }

        _disposed = true;
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        foreach (var tap in _taps)
        {
            tap.Dispose();
        }

        var failures = new List<Exception>();
        foreach (var name in _names)
        {
            try
            {
                Remove(name);
            }
            catch (IpCommandException exception)
            {
                failures.Add(exception);
            }
        }

        if (failures.Count > 0)
        {
            throw new AggregateException("namespaces are left over", failures);
        }
    }

    private void Add(int node, int mtu, bool withRuns)
    {
        var name = _prefix + node.ToString(CultureInfo.InvariantCulture);
        _ = IpCommand.Run("netns", "add", name);
        _names.Add(name);
        _taps.Add(NamespaceThread.Run(name, () =>
        {
            if (IsIpv6)
            {
                QuietIPv6();
            }
            else
            {
                SilenceIPv6();
            }

            return TapDevice.Open(name, withRuns);
        }));
        _ = IpCommand.RunWithInput(Configuration(node, mtu), "-n", name, "-batch", "-");
    }

    private string Configuration(int node, int mtu)
    {
        var device = TapDevice.InterfaceName;
        var batch = new StringBuilder()
            .AppendLine("link set lo up")
            .AppendLine($"link set {device} address {Colons(node)} mtu {mtu} txqueuelen {TransmitQueueFrames}")
            .AppendLine($"address add {Address(node)}/{(IsIpv6 ? "64" : "24")} dev {device}{(IsIpv6 ? " nodad" : "")}")
            .AppendLine($"link set {device} up");
        if (!IsIpv6)
        {
            batch.AppendLine($"route add 224.0.0.0/4 dev {device}");
        }

        for (var other = 1; other <= Count; other++)
        {
            if (other != node)
            {
                batch.AppendLine($"neighbour replace {Address(other)} lladdr {Colons(other)} dev {device} nud permanent");
            }
        }

        return batch.ToString();
    }

    private string Colons(int node) => string.Join(':', HardwareAddress(node).Select(b => b.ToString("x2", CultureInfo.InvariantCulture)));

    // No host looks for duplicates and routers.
    private static void QuietIPv6()
    {
        foreach (var setting in new[] { "accept_dad", "router_solicitations" })
        {
            File.WriteAllText($"/proc/sys/net/ipv6/conf/default/{setting}", "0");
        }
    }

    // /proc/sys/net shows the namespace of the thread that looks.
    private static void SilenceIPv6()
    {
        foreach (var scope in new[] { "all", "default" })
        {
            var path = $"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6";
            if (File.Exists(path))
            {
                File.WriteAllText(path, "1");
            }
        }
    }

    // Whatever still runs in a namespace was started in it by this test, so it ends with it.
    private static void Remove(string name)
    {
        const int SignalKill = 9;
        try
        {
            foreach (var id in IpCommand.Run("netns", "pids", name).Split('\n', StringSplitOptions.RemoveEmptyEntries))
            {
                _ = Linux.Kill(int.Parse(id, CultureInfo.InvariantCulture), SignalKill);
            }
        }
        finally
        {
            _ = IpCommand.Run("netns", "delete", name);
        }
    }

    private void OnProcessExit(object? sender, EventArgs e) => Dispose();
}
