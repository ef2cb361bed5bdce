using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// What goes in at one publisher comes out at every subscriber, byte for byte, whatever the network does.
// I1, I2, I3, I4, I19 under F1 and F2.
public sealed class LinesScenarios
{
    private static readonly int[] Subscribers = [2, 3, 4];

    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(20)]
    public void Three_subscribers_print_what_was_published_under_loss(double percent) =>
        RunRounds(new Impairment { LossPercent = percent });

    [Fact]
    public void Three_subscribers_print_what_was_published_under_duplication_reordering_and_jitter() =>
        RunRounds(new Impairment { DuplicatePercent = 1, ReorderPercent = 1, Jitter = TimeSpan.FromMilliseconds(2) });

    [Fact]
    public void A_topic_of_a_type_takes_json_and_shows_fields_by_name_in_order()
    {
        using var cluster = new QsmCluster(2);
        // It would measure, so what is published is not for it; but it has the topic open with the type.
        QsmCluster.WaitUntilReady(cluster.Join(2, "perf", "receive", "typed", "--typed-text"));
        var plain = cluster.Subscribe(2, "typed", "--count", "2");
        var json = cluster.Subscribe(1, "typed", "--count", "2", "--json");
        var publisher = cluster.Join(1, "pub", "typed", "--receivers", "3");
        publisher.Feed("{\"Flight\":\"UA 412\",\"DelayMinutes\":-3}\n{\"Gate\":\"C16\"}\n");
        publisher.CloseInput();
        publisher.ExpectExit(0);
        plain.ExpectExit(0);
        // What the line does not have is the default of its type, as a program that handles the message gets it.
        var lines = plain.Output.Lines();
        Assert.Equal(3, lines.Length);
        Assert.StartsWith("Number=0 SentAtTicks=0 Scheduled=\"0001-01-01T00:00:00\"", lines[0], StringComparison.Ordinal);
        Assert.Contains(" Carrier=\"\" Flight=\"UA 412\" TailNumber=\"\" Gate=\"\" Status=\"", lines[0], StringComparison.Ordinal);
        Assert.EndsWith(" DistanceMiles=0 DelayMinutes=-3 FuelTons=0", lines[0], StringComparison.Ordinal);
        Assert.Contains(" Flight=\"\" TailNumber=\"\" Gate=\"C16\" ", lines[1], StringComparison.Ordinal);
        json.ExpectExit(0);
        Assert.Contains(
            ",\"Flight\":\"UA 412\",\"TailNumber\":\"\",\"Gate\":\"\",\"Status\":\"", json.Output.Text(), StringComparison.Ordinal);
        Assert.Contains(",\"DelayMinutes\":-3,\"FuelTons\":0}}", json.Output.Text(), StringComparison.Ordinal);

        var wrong = cluster.Join(1, "pub", "typed");
        wrong.Feed("{\"Gate\":16}\n");
        wrong.CloseInput();
        wrong.ExpectExit(1);
        Assert.Contains("line 1: Field Gate: expected a string, but it is 16. 0 messages sent before it.", wrong.Errors.Text());
    }

    [Fact]
    public void A_command_that_watches_a_topic_first_does_not_decide_its_type()
    {
        using var cluster = new QsmCluster(2);
        var early = cluster.Subscribe(2, "later");
        QsmCluster.WaitUntilReady(cluster.Join(1, "perf", "receive", "later", "--typed-text"));
        var publisher = cluster.Join(1, "pub", "later", "--receivers", "2");
        publisher.Feed("{\"Flight\":\"UA 412\"}\n");
        publisher.CloseInput();
        publisher.ExpectExit(0);
        early.WaitForOutput(
            output => output.Text().Contains(" Flight=\"UA 412\" ", StringComparison.Ordinal), "the message with its fields");
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
            .Select(node => cluster.Join(node, "sub", "lines", "--wait", "--count", $"{ScenarioSize.Lines}")).ToList();
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
        Assert.True((impairment.LossPercent > 0) == (counters.Lost > 0), $"the network was not as configured: {counters}");
        Assert.True((impairment.DuplicatePercent > 0) == (counters.Duplicated > 0), $"the network was not as configured: {counters}");
    }
}
