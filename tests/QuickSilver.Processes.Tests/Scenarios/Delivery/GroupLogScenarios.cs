using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// Five members of a group with total order that all send at once, messages of one packet and of many, over a network that loses 5 of 100
// frames, while one of them is killed and comes back as a new member. What each gets is compared by digests, index by index. I6 and one
// order of all messages, under F1, F4 and F5.
[Collection(nameof(Alone))]
public sealed class GroupLogScenarios
{
    private const int Members = 5;
    private const int LeastBytes = 100;
    private const int MostBytes = 100_000;
    private const int Steps = 10;

    [Fact]
    public void All_logs_are_equal_from_the_first_common_view_on_while_a_member_is_killed_and_comes_back()
    {
        int all = ScenarioSize.GroupMessages;
        int third = all / 3;
        int seed = ScenarioSize.Seed;
        var folder = Directory.CreateTempSubdirectory("qsm-group-logs-");
        using var run = new StreamNodes(new QsmCluster(Members, (ulong)seed, new Impairment { LossPercent = 5 }));
        int victimHost = 1 + (seed % Members);
        var stayers = new List<Member>();
        Member? victim = null;
        for (int host = 1; host <= Members; host++)
        {
            var process = host == victimHost ? run.Transient(host) : run.Node(host);
            var member = Join(process, Path.Combine(folder.FullName, Text(host)), seed + host);
            stayers.AddRange(host == victimHost ? [] : [member]);
            victim = host == victimHost ? member : victim;
        }

        stayers.ForEach(member => StreamNodes.WaitFor(member.Process, $"view orders {Members}"));
        stayers.Append(victim!).ToList().ForEach(member => Send(member, third));
        StreamNodes.Do(victim!.Process, $"await orders {Members} {third / 2}", $"has orders {third / 2}");
        victim.Process.Send(ProcessSignal.Kill);
        stayers.ForEach(member => Send(member, third));
        stayers.ForEach(member => member.Process.WaitForOutput(
            output => Array.FindLast(output.Lines(), IsView) == $"view orders {Members - 1}", "the view without the killed member"));

        var returned = Join(run.Node(victimHost), Path.Combine(folder.FullName, "returned"), seed);
        stayers.ForEach(member => Send(member, all - (2 * third)));
        Send(returned, all);
        List<Member> last = [.. stayers, returned];
        for (int step = 1; step <= Steps; step++)
        {
            int number = all * step / Steps;
            last.ForEach(member => member.Process.Feed($"await orders {Members} {number}\n"));
            last.ForEach(member => StreamNodes.WaitFor(member.Process, $"has orders {number}"));
        }

        run.EndAndExpectNothingWrong();
        AssertEqual(stayers, returned);
        AssertAsSent(File.ReadAllLines(stayers[0].Log), last);
        int ofVictim = File.ReadLines(stayers[0].Log).Count(line => line.StartsWith(victim.Node + " ", StringComparison.Ordinal));
        Assert.InRange(ofVictim, third / 2, third);
        folder.Delete(recursive: true);
    }

    private static Member Join(NodeProcess process, string log, int seed)
    {
        process.Feed($"join orders {log} {seed}\n");
        string joined = StreamNodes.WaitFor(process, "joined orders");
        return new Member(process, joined.Split(' ')[^1], log);
    }

    private static void Send(Member member, int count) => member.Process.Feed($"send orders {count} {LeastBytes} {MostBytes}\n");

    private static void AssertEqual(List<Member> stayers, Member returned)
    {
        string[][] logs = [.. stayers.Select(static member => FromCommonView(member))];
        Assert.All(logs, log => AssertSame(logs[0], log));
        string[] late = Delivered(returned);
        Assert.True(IsView(late[0]), late[0]);
        AssertSame(logs[0][Array.IndexOf(logs[0], late[0])..], late);
    }

    // Of each sender, all that it sent, in its order.
    private static void AssertAsSent(string[] log, List<Member> senders)
    {
        foreach (var sender in senders)
        {
            string beginning = sender.Node + " ";
            string[] got =
            [
                .. log.Where(line => line.StartsWith(beginning, StringComparison.Ordinal)).Select(line => line[beginning.Length..]),
            ];
            AssertSame(File.ReadAllLines(sender.Log + ".sent"), got);
        }
    }

    private static string[] FromCommonView(Member member) =>
        [.. Delivered(member).SkipWhile(static line => !IsView(line) || line.Split(',').Length != Members)];

    // Without the views at the end, by which the members leave one after the other.
    private static string[] Delivered(Member member)
    {
        string[] lines = File.ReadAllLines(member.Log);
        return lines[..(Array.FindLastIndex(lines, static line => !IsView(line)) + 1)];
    }

    private static bool IsView(string line) => line.StartsWith("view ", StringComparison.Ordinal);

    private static void AssertSame(string[] expected, string[] actual)
    {
        int index = expected.Zip(actual).TakeWhile(static pair => pair.First == pair.Second).Count();
        if (index != expected.Length || index != actual.Length)
        {
            Assert.Fail(
                $"{expected.Length} and {actual.Length} lines, which differ at {index}: "
                + $"'{expected.ElementAtOrDefault(index)}' and '{actual.ElementAtOrDefault(index)}'");
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private sealed record Member(NodeProcess Process, string Node, string Log);
}
