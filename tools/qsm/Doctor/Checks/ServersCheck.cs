using System.Net;

namespace QuickSilver.Tool.Doctor.Checks;

// What one of the servers that were named says. Leader: the one that leads, itself or another; null: it did not tell. Fault: why not, as a
// sentence.
internal sealed record ServerAnswer(IPEndPoint Server, IPEndPoint? Leader, string? Fault);

// Whether all servers of a service answer, and agree on the one that leads.
internal static class ServersCheck
{
    public const string Name = "servers";

    /// <param name="servers">Those that were named.</param>
    public static IReadOnlyList<Finding> Of(IReadOnlyList<ServerAnswer> servers)
    {
        if (servers.Count < 2)
        {
            return [Finding.NotChecked(Name, "Only one server is known. While it is away, no node joins, and no failed node is removed.")];
        }

        var leaders = servers.Select(static one => one.Leader).OfType<IPEndPoint>().Distinct().ToList();
        int answering = servers.Count(static one => one.Leader is not null);
        string share = $"{answering} of {servers.Count} servers answer";
        if (leaders.Count == 0)
        {
            return
            [
                new Finding(
                    Name,
                    FindingStatus.Problem,
                    $"{share}: none leads. Data flows in the last views, but no node joins. {servers[0].Fault}",
                    new Remedy("etcdctl endpoint health", "a host of etcd"),
                    new Remedy("systemctl restart quicksilver-gms", Hosts(servers))),
            ];
        }

        if (leaders.Count > 1)
        {
            return
            [
                new Finding(
                    Name,
                    FindingStatus.Problem,
                    $"{share}, but they do not agree on who leads: {Listing.Of([.. leaders.Select(static one => one.ToString())])}. If "
                    + "that does not pass within 10 s, they have different --etcd or --cluster.",
                    new Remedy("systemctl cat quicksilver-gms", Hosts(servers))),
            ];
        }

        Finding[] silent =
        [
            .. servers.Where(static one => one.Leader is null).Select(one => new Finding(
                Name,
                FindingStatus.Warning,
                $"{share}, and {leaders[0]} leads. {one.Server} does not: {one.Fault}",
                new Remedy("systemctl restart quicksilver-gms", one.Server.Address.ToString()))),
        ];
        return silent.Length > 0 ? silent : [Finding.Ok(Name, $"{share}, and {leaders[0]} leads.")];
    }

    private static string Hosts(IReadOnlyList<ServerAnswer> servers) =>
        Listing.Of([.. servers.Select(static one => one.Server.Address.ToString()).Distinct()]);
}
