using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Groups;

namespace QuickSilver.Tool.Doctor.Checks;

// Whether groups are open that rely on one service for the whole cluster, although nodes host it: then each part of a divided network has
// a service.
internal static class GroupsCheck
{
    public const string Name = "groups";

    private const int MostNamed = 3;

    /// <param name="groups">Those that are open where nodes host the service; null: they are not known.</param>
    public static IEnumerable<Finding> Of(IReadOnlyList<GroupListing>? groups)
    {
        if (groups is null)
        {
            return [Finding.NotChecked(Name, "The service did not name the groups that are open.")];
        }

        string[] exclusive = [.. groups.Where(static one => one.NeedsOneService).Select(static one => $"\"{one.Group}\" ({one.Keeps})")];
        return exclusive.Length == 0
            ? []
            :
            [
                new Finding(
                    Name,
                    FindingStatus.Warning,
                    $"Nodes host the service, and {Counted.Of(exclusive.Length, "group")} of the cluster can have one holder only: "
                    + $"{string.Join(", ", exclusive.Take(MostNamed))}{(exclusive.Length > MostNamed ? ", …" : "")}. If the network is "
                    + "divided, each part has a service, and a holder. Run a service by itself, and name it in Membership:Servers of all "
                    + "nodes.",
                    new Remedy("qsm gms --listen ADDRESS:7400", "a machine that stays up")),
            ];
    }
}
