using System.Net.Sockets;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// InterfaceMtu: null if the system does not report it.
internal sealed record MtuFacts(string? Interface, int? InterfaceMtu, int PacketBytes, int HeaderBytes = MtuCheck.HeaderBytes)
{
    // There are nodes that no echo was sent to: they answer sealed ones only, and the service did not send the key.
    public bool LeavesOutNodes { get; init; }

    /// <summary>The largest packet that both the option and the interface allow.</summary>
    public int MostBytes => Math.Min(PacketBytes, (InterfaceMtu ?? int.MaxValue) - HeaderBytes);
}

// The largest echo that was answered, of those up to PacketBytes; null: none.
internal sealed record PathFacts(string Target, int? LargestBytes);

// Whether datagrams of the size that a node sends fit the interface, and the paths to the others.
internal static class MtuCheck
{
    public const string Interface = "mtu";
    public const string Path = "path mtu";
    /// <summary>Of IPv4 and UDP.</summary>
    public const int HeaderBytes = 28;
    private const int Ipv6HeaderBytes = 48;
    private const string SealedNodes = "The paths to the nodes were not checked: they answer sealed packets only, and the service did not "
        + "send this command the key. Each node finds out by itself what passes to the others.";

    /// <summary>Of IP and UDP.</summary>
    public static int HeadersOf(AddressFamily family) => family == AddressFamily.InterNetworkV6 ? Ipv6HeaderBytes : HeaderBytes;

    public static Finding OfInterface(MtuFacts facts)
    {
        int needed = facts.PacketBytes + facts.HeaderBytes;
        if (facts is not { Interface: { } name, InterfaceMtu: { } mtu })
        {
            return Finding.NotChecked(Interface, "The system does not report the MTU of the interface.");
        }

        return mtu >= needed
            ? Finding.Ok(Interface, $"The MTU of {name} is {mtu}, and packets need {needed}.")
            : new Finding(
                Interface,
                FindingStatus.Problem,
                $"The MTU of {name} is {mtu}, but packets of {facts.PacketBytes} bytes need {needed}. They are fragmented or lost. "
                + "Raise the MTU if the network carries it; otherwise decrease PacketBytes on all nodes.",
                new Remedy($"ip link set dev {ShellWord.Of(name)} mtu {needed}"),
                Smaller(mtu - facts.HeaderBytes));
    }

    /// <param name="paths">To whom at least one echo came back.</param>
    /// <param name="facts">What nodes send, and the interface: a path that is as narrow as it is no news.</param>
    public static IEnumerable<Finding> OfPaths(IReadOnlyList<PathFacts> paths, MtuFacts facts)
    {
        bool isAsked = paths.Count > 0 || !facts.LeavesOutNodes;
        return
        [
            .. isAsked ? [OfAnswers(paths, facts)] : Array.Empty<Finding>(),
            .. facts.LeavesOutNodes ? [Finding.NotChecked(Path, SealedNodes)] : Array.Empty<Finding>(),
        ];
    }

    private static Finding OfAnswers(IReadOnlyList<PathFacts> paths, MtuFacts facts)
    {
        int packetBytes = facts.PacketBytes;
        if (paths.Count == 0)
        {
            return Finding.NotChecked(Path, "No echo came back that could show it.");
        }

        int limit = facts.MostBytes;
        var narrow = paths.Where(path => path.LargestBytes is not { } largest || largest < limit).ToList();
        if (narrow.Count == 0)
        {
            return Finding.Ok(Path, limit == packetBytes
                ? $"Packets of {packetBytes} bytes pass whole between this host and {Targets(paths)}."
                : $"What fits the interface passes whole between this host and {Targets(paths)}.");
        }

        int least = narrow.Min(static path => path.LargestBytes ?? 0);
        string most = least == 0
            ? "only the smallest ones do"
            : $"those of {least} bytes do (an MTU of {least + facts.HeaderBytes})";
        return new Finding(
            Path,
            FindingStatus.Problem,
            $"Packets of {packetBytes} bytes do not pass whole between this host and {Targets(narrow)}, but {most}. A tunnel, a VPN or an "
            + "overlay network on the way has a smaller MTU. Decrease PacketBytes on all nodes.",
            least == 0 ? [] : [Smaller(least)]);
    }

    private static Remedy Smaller(int bytes) => new($"export QuickSilver__PacketBytes={bytes}", "every node");

    private static string Targets(IReadOnlyList<PathFacts> paths) => Listing.Of([.. paths.Select(static path => path.Target)]);
}
