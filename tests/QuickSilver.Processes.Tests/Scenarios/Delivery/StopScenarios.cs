using System.Globalization;
using System.Text.RegularExpressions;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// I25 with whole processes: a publisher or a slow consumer ends, in a host by SIGTERM or by a verb of its own, and what was accepted is
// handled or reported. Each round has one of each, in another way than the round before.
public sealed partial class StopScenarios(ITestOutputHelper output)
{
    private const int Messages = 15_000;
    // Of a publisher that has time for all of them, on a machine that is busy, too.
    private const int FewMessages = 5_000;
    // Of a consumer that ends. All are stable before.
    private const int StableMessages = 1_500;
    private const int Each = 1;
    private const int Longest = 60_000;
    private static readonly (string Kind, string Verb, int Limit)[] PublisherEnds =
    [
        ("host", "", 1_000), ("bare", "drain", Longest), ("host", "", Longest), ("bare", "dispose", 0), ("bare", "cancel", 0),
        ("bare", "node", 0), ("bare", "drain", 300),
    ];

    private static readonly (string Kind, string Verb, int Limit)[] ConsumerEnds =
    [
        ("host", "", 20_000), ("bare", "stop", Longest), ("bare", "dispose", 0), ("host", "", 500), ("bare", "consumption", 0),
        ("bare", "cancel", 0), ("bare", "node", 0),
    ];

    [Fact]
    public void Messages_that_a_publisher_had_accepted_when_it_ended_are_handled_or_reported()
    {
        for (int round = 0; round < ScenarioSize.Rounds; round++)
        {
            var end = PublisherEnds[round % PublisherEnds.Length];
            int messages = end.Limit == Longest ? FewMessages : Messages;
            using var cluster = new QsmCluster(3);
            var consumer = Start(cluster, 3, "consume", "bare", Each, Longest);
            var publisher = Start(cluster, 2, "publish", end.Kind, messages, end.Limit);
            QsmCluster.WaitUntilReady(publisher);
            End(publisher, end);
            var sums = Sums(publisher);
            Assert.Equal(messages, sums["accepted"]);
            Assert.Equal(sums["accepted"], sums["sent"] + sums["dropped"]);
            AssertReported(publisher, end.Verb, sums["dropped"] + sums["unacknowledged"]);

            // The consumer handles all that has come before it ends.
            consumer.Feed("stop\n");
            var got = Sums(consumer);
            long missing = sums["sent"] - got["handled"] - got["reported"];
            Say($"publisher {end}: {Text(sums)}; {Text(got)}");
            Assert.InRange(missing, 0, sums["unacknowledged"]);
            Assert.True(end.Limit != Longest || missing + sums["dropped"] == 0, "A drain that had time lost messages.");
        }
    }

    [Fact]
    public void Messages_that_were_stable_when_a_consumer_ended_are_handled_or_reported()
    {
        for (int round = 0; round < ScenarioSize.Rounds; round++)
        {
            var end = ConsumerEnds[round % ConsumerEnds.Length];
            using var cluster = new QsmCluster(3);
            var consumer = Start(cluster, 3, "consume", end.Kind, Each * 2, end.Limit);
            var publisher = Start(cluster, 2, "publish", "bare", StableMessages, Longest);
            QsmCluster.WaitUntilReady(publisher);
            publisher.Feed("drain\n");
            var sums = Sums(publisher);
            Assert.Equal((1, StableMessages), (sums["stable"], sums["sent"]));

            End(consumer, end);
            var got = Sums(consumer);
            Say($"consumer {end}: {Text(got)} of {StableMessages}");
            // What waits behind a consumer whose endpoint continues is reported when the endpoint ends, and what comes after a cancellation
            // when the topic was left. The consumer has ended before.
            long left = StableMessages - got["handled"];
            Assert.Equal(left, Counts(consumer, Unhandled()).Sum());
            Assert.InRange(got["reported"], end.Verb is "consumption" or "cancel" ? 0 : left, left);
        }
    }

    private static NodeProcess Start(QsmCluster cluster, int node, string role, string kind, int number, int limit)
    {
        string[] arguments =
        [
            role, cluster.Service, cluster.Network.Address(node).ToString(), kind, number.ToString(CultureInfo.InvariantCulture),
            limit.ToString(CultureInfo.InvariantCulture),
        ];
        return cluster.StartProgram(Programs.StopNode, node, arguments);
    }

    private static void End(NodeProcess process, (string Kind, string Verb, int Limit) end)
    {
        if (end.Kind == "host")
        {
            process.Send(ProcessSignal.Terminate);
        }
        else
        {
            process.Feed(end.Verb + "\n");
        }
    }

    private static Dictionary<string, long> Sums(NodeProcess process)
    {
        process.ExpectExit(0);
        string[] words = process.Output.Text().Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        return words.Chunk(2).ToDictionary(static pair => pair[0], static pair => long.Parse(pair[1], CultureInfo.InvariantCulture));
    }

    // A node that ends has one line for each topic. An endpoint that ended before it has another one.
    private static void AssertReported(NodeProcess publisher, string verb, long lost)
    {
        int[] counts = Counts(publisher, NotSent());
        Assert.Equal(lost, counts.Sum());
        Assert.InRange(counts.Length, 0, verb is "" or "node" ? 1 : 2);
    }

    [GeneratedRegex("Topic \"stops\": ([0-9]+) accepted messages (may never arrive|were not sent)")]
    private static partial Regex NotSent();

    [GeneratedRegex(@"Topic ""stops"": the endpoint ended before [a-z ]+\(([0-9]+)\)")]
    private static partial Regex Unhandled();

    private static int[] Counts(NodeProcess process, Regex report) =>
    [
        .. process.Errors.Lines().Select(line => report.Match(line)).Where(static found => found.Success)
            .Select(static found => int.Parse(found.Groups[1].Value, CultureInfo.InvariantCulture)),
    ];

    private static string Text(Dictionary<string, long> sums) =>
        string.Join(", ", sums.Select(static one => string.Create(CultureInfo.InvariantCulture, $"{one.Value} {one.Key}")));

    private void Say(string line)
    {
        output.WriteLine(line);
        Console.WriteLine(line);
    }
}
