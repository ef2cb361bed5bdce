using System.Globalization;
using System.Text.Json;
using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios;

// What `qsm perf` reports of itself: nothing is lost or doubled at full speed, a steady stream allocates nothing, and
// thousands of topics with the same subscribers are one region. I1, I2, I17.
public sealed class PerfScenarios
{
    // Heartbeats and the measurement itself allocate a little per second, which many messages share.
    private const double NothingPerMessage = 1.0;

    [SkippableFact]
    public void A_steady_stream_allocates_nothing_and_causes_no_full_collection()
    {
        using var cluster = new QsmCluster(4);

        var (sender, receivers) = Measure(cluster, [2, 3, 4], "steady", "--size", "1000");

        Assert.True(Number(sender, "sent") > 10_000, $"too few to tell: {sender}");
        foreach (var report in receivers.Append(sender))
        {
            Assert.True(Number(report, "allocatedBytesPerMessage") < NothingPerMessage, report.ToString());
            Assert.Equal(0, report.GetProperty("gcCollections")[2].GetInt32());
        }
    }

    [SkippableFact]
    public void Topics_by_the_thousand_with_the_same_subscribers_share_one_region()
    {
        using var cluster = new QsmCluster(3);
        var census = cluster.Switch.Census = new UdpCensus();

        _ = Measure(cluster, [2, 3], "many", "--size", "200", "--topics", "8192");

        var multicast = census.BytesByDestination().Where(d => d.Key.Address.GetAddressBytes()[0] >= 224).ToList();
        var share = (double)multicast[0].Value / multicast.Sum(d => d.Value);
        Assert.True(share > 0.9, "the data went to more than one group: " + string.Join(", ", multicast.Take(10)));
    }

    private static (JsonElement Sender, List<JsonElement> Receivers) Measure(
        QsmCluster cluster, int[] receivers, string topic, string size, string bytes, params string[] more)
    {
        var receiving = receivers.Select(node => cluster.Join(node, ["perf", "receive", topic, "--json", .. more])).ToList();
        string[] count = ["--receivers", receivers.Length.ToString(CultureInfo.InvariantCulture)];
        var seconds = ScenarioSize.Seconds.ToString(CultureInfo.InvariantCulture);
        var sending = cluster.Join(1, ["perf", "send", topic, "--json", size, bytes, "--seconds", seconds, .. count, .. more]);
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
