using System.Net;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// The `nft` of nftables inside a node's namespace: a firewall as a user would have it.
internal static class NftCommand
{
    private const string Table = "qs_test";
    private const int UdpHeaderBytes = 8;

    private static string? Path { get; } =
        new[] { "/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft", "/bin/nft" }.FirstOrDefault(File.Exists);

    /// <summary>Skips the running test, with the reason, where the machine has no firewall to set.</summary>
    public static void SkipUnlessUsable(NetworkNamespaces network)
    {
        Assert.SkipWhen(Path is null, "the command `nft` of nftables is missing");
        try
        {
            Pass(network, 1);
        }
        catch (IpCommandException exception)
        {
            Assert.Skip("this machine's kernel takes no rules of nftables: " + exception.Message);
        }
    }

    /// <summary>Drops the datagrams that come to a node, that it sends, or both; all else passes, and so does its own loopback.</summary>
    public static void DropDatagrams(NetworkNamespaces network, int node, bool incoming, bool outgoing)
    {
        string drop = $"\"{TapDevice.InterfaceName}\" meta l4proto udp drop";
        string rules = incoming ? $"chain in {{ type filter hook input priority 0; iifname {drop}; }}\n" : "";
        rules += outgoing ? $"chain out {{ type filter hook output priority 0; oifname {drop}; }}\n" : "";
        Set(network, node, rules);
    }

    /// <summary>Drops the datagrams that come to a node for one multicast address; all else passes.</summary>
    public static void DropGroup(NetworkNamespaces network, int node, IPAddress group) => Set(
        network, node, $"chain in {{ type filter hook input priority 0; ip daddr {group} meta l4proto udp drop; }}\n");

    /// <summary>Drops the datagrams that come to a node and have more bytes than this, without the headers of IP and UDP.</summary>
    public static void DropLargeDatagrams(NetworkNamespaces network, int node, int bytes) => Set(
        network, node, Incoming($"udp length > {bytes + UdpHeaderBytes}"));

    /// <summary>Drops the datagrams that come to a node and answer nothing that it has sent.</summary>
    public static void DropUnsolicited(NetworkNamespaces network, int node) => Set(
        network, node, Incoming("meta l4proto udp ct state new"));

    /// <summary>Drops the TCP segments that come to a node.</summary>
    public static void DropStreams(NetworkNamespaces network, int node) => Set(
        network, node, Incoming("meta l4proto tcp"));

    /// <summary>Everything passes again.</summary>
    public static void Pass(NetworkNamespaces network, int node) => Set(network, node, "");

    private static string Incoming(string what) =>
        $"chain in {{ type filter hook input priority 0; iifname \"{TapDevice.InterfaceName}\" {what} drop; }}\n";

    // An empty table first, so that there is one to delete.
    private static void Set(NetworkNamespaces network, int node, string rules) => IpCommand.RunWithInput(
        $"table inet {Table} {{ }}\ndelete table inet {Table}\ntable inet {Table} {{\n{rules}}}\n",
        "netns",
        "exec",
        network.Name(node),
        Path!,
        "-f",
        "-");
}
