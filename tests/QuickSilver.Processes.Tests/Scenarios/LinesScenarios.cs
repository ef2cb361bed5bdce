using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios;

// What goes in at one publisher comes out at every subscriber, byte for byte, whatever the network does.
// I1, I2, I3, I4, I19 under F1 and F2.
public sealed class LinesScenarios
{
    private static readonly int[] Subscribers = [2, 3, 4];

    [SkippableTheory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(20)]
    public void Three_subscribers_print_what_was_published_under_loss(double percent) =>
        RunRounds(new Impairment { LossPercent = percent });

    [SkippableFact]
    public void Three_subscribers_print_what_was_published_under_duplication_reordering_and_jitter() =>
        RunRounds(new Impairment { DuplicatePercent = 1, ReorderPercent = 1, Jitter = TimeSpan.FromMilliseconds(2) });

    [SkippableFact]
    public void A_topic_of_another_type_refuses_lines_and_the_tool_says_what_to_do()
    {
        using var cluster = new QsmCluster(2);
        QsmCluster.WaitUntilReady(cluster.Join(2, "perf", "receive", "typed", "--typed"));
        foreach (string command in (string[])["pub", "sub"])
        {
            var refused = cluster.Join(1, command, "typed");
            refused.ExpectExit(1);
            Assert.Contains("this endpoint has bytes(bytes). The tool opens topics as reliable and with bytes only", refused.Errors.Text());
        }
    }

    private static void RunRounds(Impairment impairment)
    {
        for (var round = 1; round <= ScenarioSize.Rounds; round++)
        {
            Run((ulong)round, impairment);
        }
    }

    private static void Run(ulong seed, Impairment impairment)
    {
        var input = TestLines.Join(TestLines.Make(ScenarioSize.Lines));
        using var cluster = new QsmCluster(4, seed, impairment);
        var subscribers = Subscribers
            .Select(node => cluster.Join(node, "sub", "lines", "--count", $"{ScenarioSize.Lines}")).ToList();
        subscribers.ForEach(QsmCluster.WaitUntilReady);
        var publisher = cluster.Join(1, "pub", "lines");

        publisher.Feed(input);
        publisher.CloseInput();

        publisher.ExpectExit(0);
        foreach (var subscriber in subscribers)
        {
            subscriber.ExpectExit(0);
            Assert.Equal(input, subscriber.Output.Text());
        }

        var counters = cluster.Switch.Counters(1, 2);
        Assert.True((impairment.LossPercent > 0) == (counters.Lost > 0), $"the network was not as told: {counters}");
        Assert.True((impairment.DuplicatePercent > 0) == (counters.Duplicated > 0), $"the network was not as told: {counters}");
    }
}
