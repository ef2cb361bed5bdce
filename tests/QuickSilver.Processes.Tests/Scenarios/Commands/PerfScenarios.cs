using System.Globalization;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// What `qsm perf` reports of itself: nothing is lost or doubled at full speed, a steady stream of bytes or of typed messages
// allocates nothing, and thousands of topics with the same subscribers are one region. I1, I2, I17.
[Collection(nameof(Alone))]
public sealed class PerfScenarios
{
    // What one object a message would cost at least.
    private const double SmallestObjectBytes = 24;

    // Fewer than one object in ten messages. Heartbeats and the measurement itself allocate a little per second, and on a busy machine
    // pools grow once or twice when messages have to wait.
    private const double NothingPerMessage = SmallestObjectBytes / 10;
    private const int MessageCount = 100_000;

    private static string[] Seconds => ["--seconds", ScenarioSize.Seconds.ToString(CultureInfo.InvariantCulture)];

    [Fact]
    public void A_steady_stream_allocates_nothing_and_causes_no_full_collection()
    {
        using var cluster = new QsmCluster(4);

        // At a rate at which no receiver falls behind: what waits makes pools grow, now or later.
        var (sender, receivers) = Measure(
            cluster, [.. Seconds, "--rate", "100000"], [(2, []), (3, []), (4, [])], "steady", "--size", "1000");

        Assert.True(Number(sender, "sent") > 10_000, $"too few to judge: {sender}");
        foreach (var report in receivers.Append(sender))
        {
            Assert.True(Number(report, "allocatedBytesPerMessage") < NothingPerMessage, report.ToString());
            Assert.Equal(0, report.GetProperty("gcCollections")[2].GetInt32());
        }
    }

    [Fact]
    public void Topics_by_the_thousand_with_the_same_subscribers_share_one_region()
    {
        using var cluster = new QsmCluster(3);
        var census = cluster.Switch.Census = new UdpCensus();

        _ = Measure(cluster, [2, 3], "many", "--size", "200", "--topics", "8192");

        var multicast = census.BytesByDestination().Where(d => d.Key.Address.GetAddressBytes()[0] >= 224).ToList();
        var share = (double)multicast[0].Value / multicast.Sum(d => d.Value);
        Assert.True(share > 0.9, "the data went to more than one group: " + string.Join(", ", multicast.Take(10)));
    }

    [Fact]
    public void A_typed_message_without_references_costs_handlers_and_readers_no_allocation()
    {
        using var cluster = new QsmCluster(3);

        var (sender, receivers) = Measure(
            cluster, [.. Seconds, "--rate", "50000"], [(2, ["--typed"]), (3, ["--typed", "--reader"])], "typed", "--typed");

        foreach (var report in receivers.Append(sender))
        {
            Assert.True(Number(report, "allocatedBytesPerMessage") < SmallestObjectBytes / 4, report.ToString());
            Assert.InRange(Number(report, "payloadBytes"), 140, 165);
        }
    }

    [Fact]
    public void A_typed_message_with_strings_arrives_and_says_what_it_allocates()
    {
        using var cluster = new QsmCluster(2);

        string[] count = ["--count", $"{MessageCount}", "--warm-up", "1"];
        var (sender, receivers) = Measure(cluster, count, [(2, ["--typed-text"])], "text", "--typed-text");

        Assert.Equal(MessageCount, Number(sender, "sent"));
        Assert.InRange(Number(sender, "payloadBytes"), 140, 165);
        Assert.True(Number(sender, "allocatedBytes") / MessageCount < SmallestObjectBytes / 4, sender.ToString());
        Assert.True(Number(receivers[0], "allocatedBytes") / MessageCount > Number(sender, "payloadBytes"), receivers[0].ToString());
    }

    [Fact]
    public void Feeds_on_several_topics_send_exactly_so_many_messages_in_order()
    {
        using var cluster = new QsmCluster(3);

        string[] count = ["--count", $"{MessageCount + 1}", "--warm-up", "1"];
        string[] topics = ["--topics", "3"];
        var (sender, _) = Measure(cluster, count, [(2, topics), (3, topics)], "fed", ["--feed", "--size", "700", .. topics]);

        Assert.Equal(MessageCount + 1, Number(sender, "sent"));
        Assert.True(Number(sender, "allocatedBytes") / MessageCount < SmallestObjectBytes / 4, sender.ToString());
    }

    [Fact]
    public void Several_senders_are_counted_each_while_all_of_them_send()
    {
        const int Senders = 3;
        using var cluster = new QsmCluster(Senders + 1);

        var receiving = cluster.Join(Senders + 1, ["perf", "receive", "shared", "--senders", $"{Senders}", "--json"]);
        var sending = Enumerable.Range(1, Senders)
            .Select(node => cluster.Join(node, ["perf", "send", "shared", "--json", "--receivers", "1", .. Seconds]))
            .ToList();
        sending.ForEach(sender => sender.ExpectExit(0));
        receiving.ExpectExit(0);

        var report = Parse(receiving);
        Assert.Equal((0, 0), (Number(report, "gaps"), Number(report, "duplicates")));
        double[] rates = [.. report.GetProperty("senderMessagesPerSecond").EnumerateArray().Select(rate => rate.GetDouble())];
        Assert.Equal(Senders, rates.Length);
        Assert.All(rates, rate => Assert.True(rate > 0, report.ToString()));
        Assert.InRange(Number(report, "fairnessIndex"), 1.0 / Senders, 1);
        Assert.InRange(rates.Sum() / Number(report, "messagesPerSecond"), 0.99, 1.01);
    }

    private static (JsonElement Sender, List<JsonElement> Receivers) Measure(
        QsmCluster cluster, int[] receivers, string topic, string size, string bytes, params string[] more) =>
        Measure(cluster, Seconds, [.. receivers.Select(node => (node, more))], topic, [size, bytes, .. more]);

    private static (JsonElement Sender, List<JsonElement> Receivers) Measure(
        QsmCluster cluster, string[] length, (int Node, string[] More)[] receivers, string topic, params string[] more)
    {
        var receiving = receivers.Select(r => cluster.Join(r.Node, ["perf", "receive", topic, "--json", .. r.More])).ToList();
        string[] count = ["--receivers", receivers.Length.ToString(CultureInfo.InvariantCulture)];
        var sending = cluster.Join(1, ["perf", "send", topic, "--json", .. length, .. count, .. more]);
        sending.ExpectExit(0);
        receiving.ForEach(r => r.ExpectExit(0));

        var sender = Parse(sending);
        var reports = receiving.ConvertAll(Parse);
        foreach (var report in reports)
        {
            Assert.Equal(0, Number(report, "gaps"));
            Assert.Equal(0, Number(report, "duplicates"));
            Assert.Equal(Number(sender, "sent"), Number(report, "delivered"));
        }

        return (sender, reports);
    }

    private static JsonElement Parse(NodeProcess process) => JsonDocument.Parse(process.Output.Text()).RootElement.Clone();

    private static double Number(JsonElement report, string name) => report.GetProperty(name).GetDouble();
}
