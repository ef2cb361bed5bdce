using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// A subscriber that is gone without a notice delays no other for longer than the failure detector takes, and one that
// comes back gets what is published from its view on. I1, I2, I4, I10, I19 under F4 and F5.
public sealed class CrashScenarios
{
    [Fact]
    public void The_others_get_everything_when_one_is_killed_and_one_that_comes_back_gets_what_follows()
    {
        var half = ScenarioSize.Lines / 2;
        var before = TestLines.Make(half);
        var during = TestLines.Make(half, first: half);
        var after = TestLines.Make(half, first: 2 * half);
        using var cluster = new QsmCluster(4);
        var stays = new[] { cluster.Subscribe(2, "lines"), cluster.Subscribe(3, "lines") };
        var victim = cluster.Subscribe(4, "lines");
        var publisher = cluster.Join(1, "pub", "lines");

        publisher.Feed(TestLines.Join(before));
        victim.WaitForOutput(o => o.LineCount >= half / 4, "a quarter of the lines");
        victim.Send(ProcessSignal.Kill);
        publisher.Feed(TestLines.Join(during));
        WaitForLines(stays, 2 * half);

        var returned = cluster.Subscribe(4, "lines");
        publisher.Feed(TestLines.Join(after));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        WaitForLines([.. stays, returned], after.Length);
        WaitForLines(stays, 3 * half);

        foreach (var subscriber in stays.Append(returned))
        {
            subscriber.Send(ProcessSignal.Interrupt);
            subscriber.ExpectExit(0);
        }

        Assert.Equal(TestLines.Join(after), returned.Output.Text());
        Assert.All(stays, s => Assert.Equal(TestLines.Join([.. before, .. during, .. after]), s.Output.Text()));
        Assert.StartsWith(victim.Output.Text(), TestLines.Join(before.Concat(during)), StringComparison.Ordinal);
    }

    private static void WaitForLines(IEnumerable<NodeProcess> processes, int lines)
    {
        foreach (var process in processes)
        {
            process.WaitForOutput(o => o.LineCount >= lines, $"{lines} lines");
        }
    }
}
