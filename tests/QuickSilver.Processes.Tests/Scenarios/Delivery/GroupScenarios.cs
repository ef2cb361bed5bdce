using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Members of a group that all send at once, at terminals, over a network that loses packets. I6 and one order of all messages, under F1 and
// F4.
public sealed class GroupScenarios
{
    private const string View = "# view ";

    [Fact]
    public void All_members_print_the_same_while_the_one_that_orders_is_killed_and_another_comes_back()
    {
        int lines = ScenarioSize.Lines / 2;
        using var cluster = new QsmCluster(4, seed: 1, new Impairment { LossPercent = 2 });
        // The oldest orders.
        var oldest = JoinGroup(cluster, 2);
        var members = new[] { JoinGroup(cluster, 3), JoinGroup(cluster, 4) };
        members[0].WaitForOutput(output => ViewsOf(output).Any(static view => MembersOf(view) == 3), "a view of three");

        oldest.Feed(TestLines.Join(TestLines.Make(lines, "oldest")));
        FeedAll(members, "before", lines);
        oldest.WaitForOutput(output => output.LineCount > lines, "some of the lines");
        oldest.Send(ProcessSignal.Kill);
        FeedAll(members, "during", lines);
        foreach (var member in members)
        {
            member.WaitForOutput(output => ViewsOf(output) is [.., var last] && MembersOf(last) == 2, "a view of two");
            member.WaitForOutput(output => LinesOf(output, "during") == 2 * lines, "all lines of the two");
        }

        var returned = JoinGroup(cluster, 2);
        returned.WaitForOutput(output => ViewsOf(output) is [var only] && MembersOf(only) == 3, "a view of three");
        FeedAll([.. members, returned], "after", lines);
        foreach (var member in members.Append(returned))
        {
            member.WaitForOutput(output => LinesOf(output, "after") == 3 * lines, "all lines of the three");
            Assert.False(member.HasExited, member.Report());
        }

        // From the view on in which all three were.
        string[][] printed = [.. members.Select(static member => FromFirstViewOf(member.Output.Lines(), 3))];
        Assert.Equal(printed[0], printed[1]);
        string[] late = returned.Output.Lines();
        Assert.Equal(late, printed[0][^late.Length..]);
        // What the killed member printed is, as far as it came, the same in the same order.
        string[] before = FromFirstViewOf(oldest.Output.Lines(), 3);
        var common = before.ToHashSet();
        common.IntersectWith(printed[0]);
        Assert.Equal(printed[0].Where(common.Contains), before.Where(common.Contains));

        foreach (var member in members.Append(returned))
        {
            member.Send(ProcessSignal.Interrupt);
            member.ExpectExit(0);
        }
    }

    private static NodeProcess JoinGroup(QsmCluster cluster, int node)
    {
        var member = cluster.Join(node, "group", "join", "orders");
        QsmCluster.WaitUntilReady(member);
        return member;
    }

    private static void FeedAll(IEnumerable<NodeProcess> members, string name, int lines)
    {
        int number = 0;
        foreach (var member in members)
        {
            member.Feed(TestLines.Join(TestLines.Make(lines, $"{name} {number++}")));
        }
    }

    private static string[] ViewsOf(OutputCapture output) =>
        [.. output.Lines().Where(static line => line.StartsWith(View, StringComparison.Ordinal))];

    private static int MembersOf(string view) => view.Split(", ").Length;

    private static int LinesOf(OutputCapture output, string name) =>
        output.Lines().Count(line => line.StartsWith(name, StringComparison.Ordinal));

    private static string[] FromFirstViewOf(string[] lines, int members) =>
        [.. lines.SkipWhile(line => !line.StartsWith(View, StringComparison.Ordinal) || MembersOf(line) != members)];
}
