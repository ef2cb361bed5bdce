using QuickSilver.Architecture.Tests.Reading;
using static QuickSilver.Architecture.Tests.Reading.NamespaceUses;

namespace QuickSilver.Architecture.Tests;

// The tables of rooms against the compiled code and the page that prints them.
public sealed class RoomTableTests
{
    private static readonly RoomTable[] All = [MembershipRooms.Table, MulticastRooms.Table];

    public static TheoryData<string> Projects => [.. All.Select(static table => table.Project)];

    [Theory]
    [MemberData(nameof(Projects))]
    public void A_room_uses_only_what_its_table_lists(string project)
    {
        var table = Of(project);
        var listed = Listed(table).ToHashSet();

        Violations.AssertNone(
            from use in NamespaceUses.Within(Assemblies.Named(project))
            let edge = (User: RoomOf(use.User), Used: RoomOf(use.Used))
            where edge.User != edge.Used && !listed.Contains(edge)
            select $"{use.User.FullName} uses {use.Used.FullName}");
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void Each_room_has_its_row_and_what_is_gone_leaves_the_table(string project)
    {
        var table = Of(project);
        var used = NamespaceUses.Within(Assemblies.Named(project))
            .Select(static use => (RoomOf(use.User), RoomOf(use.Used))).ToHashSet();
        var folders = Repository.Files(["src/" + project], ".cs").Select(static file => file.Split('/'))
            .Select(static parts => parts.Length > 3 ? parts[2] : Room.Root).Distinct();

        Violations.AssertNone(
            from edge in Listed(table)
            where !used.Contains(edge)
            select $"{Room.Print(edge.User)} does not use {Room.Print(edge.Used)}");
        Assert.Equal(folders.Order(StringComparer.Ordinal), table.Rooms.Select(static room => room.Name).Order(StringComparer.Ordinal));
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void But_for_its_knots_a_room_uses_only_those_before_it(string project)
    {
        var below = new HashSet<string>();
        var wrong = new List<string>();
        foreach (var room in Of(project).Rooms)
        {
            string user = Room.Print(room.Name);
            wrong.AddRange(room.Uses.Where(used => !below.Contains(used)).Select(used => $"{user} uses {Room.Print(used)}, a knot"));
            wrong.AddRange(room.Knots.Where(below.Contains).Select(used => $"{user} uses {Room.Print(used)}, which is no knot"));
            below.Add(room.Name);
        }

        Violations.AssertNone(wrong);
    }

    [Theory]
    [MemberData(nameof(Projects))]
    public void The_architecture_page_prints_the_table(string project)
    {
        var table = Of(project);
        var printed = Repository.ReadLines("docs/architecture.md").SkipWhile(line => line != table.Heading).Skip(1)
            .TakeWhile(static line => !line.StartsWith("## ", StringComparison.Ordinal))
            .Where(static line => line.StartsWith('|'));

        Assert.Equal(string.Join('\n', table.Print()), string.Join('\n', printed));
    }

    private static RoomTable Of(string project) => All.Single(table => table.Project == project);

    private static IEnumerable<(string User, string Used)> Listed(RoomTable table) =>
        table.Rooms.SelectMany(static room => room.Uses.Concat(room.Knots).Select(used => (room.Name, used)));
}
