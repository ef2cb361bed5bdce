namespace QuickSilver.Architecture.Tests;

/// <summary>
/// The rooms of a project, the lowest first, each with the rooms that it uses. A room uses those listed before it; its knots are the
/// exceptions, which close cycles. An edge that is gone must leave the table, and a new one fits or is refused, so the knots only
/// become fewer.
/// </summary>
internal sealed record RoomTable(string Project, IReadOnlyList<Room> Rooms)
{
    /// <summary>The heading of the project's part of docs/architecture.md, which prints the table.</summary>
    public string Heading => "## " + Project;

    /// <summary>The rows of the table as the page prints them.</summary>
    public IEnumerable<string> Print()
    {
        bool hasKnots = Rooms.Any(static room => room.Knots.Length > 0);
        yield return hasKnots ? "| Room | Uses | In a cycle with it |" : "| Room | Uses |";
        yield return hasKnots ? "|---|---|---|" : "|---|---|";
        foreach (var room in Rooms)
        {
            string uses = room.Uses.Length == 0 ? "nothing" : Room.Print(room.Uses);
            string knots = room.Knots.Length == 0 ? "| |" : $"| {Room.Print(room.Knots)} |";
            yield return $"| {(room.Name == Room.Root ? "The root" : Room.Print(room.Name))} | {uses} {(hasKnots ? knots : "|")}";
        }
    }
}

internal sealed class Room(string name, string[] uses, string[]? knots = null)
{
    /// <summary>What lies in no folder.</summary>
    public const string Root = "";

    public string Name => name;

    public string[] Uses => uses;

    public string[] Knots => knots ?? [];

    public static string Print(params string[] names) =>
        string.Join(", ", names.Select(static name => name == Root ? "the root" : $"`{name}/`"));
}
