using System.Globalization;
using System.Net;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client;
using QuickSilver.Tool.Doctor.Checks.Network;

namespace QuickSilver.Tool.Doctor.Facts;

// Which ports are held. Of the ports for groups, only those that the system lists are tried: there are thousands.
internal static class PortReader
{
    private const int MostTried = 64;
    private static readonly string[] Lists = ["/proc/net/udp", "/proc/net/udp6"];

    public static PortFacts Read(QuickSilverOptions options, IPAddress local)
    {
        var (first, last) = (options.Membership.Hosted.FirstGroupPort, options.Membership.Hosted.LastGroupPort);
        var group = ProtocolOptions.Of(options).Service.RangeFor(local).BaseAddress;
        bool usesDiscovery = !options.Membership.HasServers;
        return new PortFacts(options.DiscoveryPort, first, last, EphemeralPorts.Read())
        {
            UsesDiscovery = usesDiscovery,
            Discovery = usesDiscovery ? Held(local, new DiscoveryOptions().GroupOf(local), options.DiscoveryPort) : null,
            Groups =
            [
                .. Bound().Where(port => port >= first && port <= last).Distinct().Take(MostTried)
                    .Select(port => Held(local, group, port)).OfType<HeldPort>(),
            ],
        };
    }

    private static HeldPort? Held(IPAddress local, IPAddress group, int port) =>
        PortHolder.IsBusy(local, group, port) ? new HeldPort(port, PortHolder.Of(port)) : null;

    private static IEnumerable<int> Bound()
    {
        foreach (string list in Lists.Where(File.Exists))
        {
            foreach (string line in File.ReadLines(list).Skip(1))
            {
                string[] columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
                if (columns.Length > 1
                    && int.TryParse(columns[1].Split(':')[^1], NumberStyles.HexNumber, CultureInfo.InvariantCulture, out int port))
                {
                    yield return port;
                }
            }
        }
    }
}
