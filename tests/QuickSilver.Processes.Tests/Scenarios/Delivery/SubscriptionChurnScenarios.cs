using System.Globalization;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// One publisher to twenty topics while eight nodes change their subscriptions all the time, so that every node moves from
// region to region under the traffic: an endpoint that stays open gets every message once and in order, and one that came
// and went has one piece without a hole. I1, I2, I4, I7, I8 under F14.
[Collection(nameof(Alone))]
public sealed class SubscriptionChurnScenarios
{
    private const int Followers = 8;
    private const int TopicCount = 20;
    private const int Rate = 5000;
    private const double ChangesPerSecondInAll = 10;

    [Fact]
    public void Endpoints_that_stay_open_get_every_message_once_and_in_order_while_nodes_change_regions()
    {
        using var cluster = new QsmCluster(Followers + 1);
        var followers = Enumerable.Range(0, Followers).Select(i => Follow(cluster, i)).ToList();
        followers.ForEach(QsmCluster.WaitUntilReady);
        // Every topic is kept by two followers.
        var publisher = Churn(cluster, 1, "publish", $"{Rate}", $"{ScenarioSize.Seconds}", "2");

        publisher.ExpectExit(0);
        followers.ForEach(follower => follower.Feed("enough\n"));
        followers.ForEach(follower => follower.WaitForExit());

        var sent = Parse(publisher).GetProperty("Sent").EnumerateArray().Select(count => count.GetInt64()).ToArray();
        Assert.True(sent.Sum() > Rate * ScenarioSize.Seconds / 2, $"only {sent.Sum()} were published");
        var reports = followers.ConvertAll(Parse);
        var endpoints = reports.SelectMany(report => report.GetProperty("Endpoints").EnumerateArray());
        Assert.All(endpoints, endpoint => AssertWhole(endpoint, sent, publisher));
        followers.ForEach(follower => follower.ExpectExit(0));
        Assert.All(followers.Append(publisher), node => Assert.DoesNotContain(" ERR] ", node.Errors.Text()));
        var changes = reports.Sum(report => report.GetProperty("Changes").GetInt32());
        Assert.True(changes > ChangesPerSecondInAll * ScenarioSize.Seconds / 2, $"only {changes} changes");
    }

    private static NodeProcess Follow(QsmCluster cluster, int index)
    {
        int[] kept = [.. Enumerable.Range(0, TopicCount).Where(topic => topic % Followers == index || (topic + 3) % Followers == index)];
        return Churn(
            cluster,
            index + 2,
            "follow",
            string.Join(',', kept),
            (ChangesPerSecondInAll / Followers).ToString(CultureInfo.InvariantCulture),
            $"{index + 1}");
    }

    private static NodeProcess Churn(QsmCluster cluster, int node, string role, params string[] more) => cluster.StartProgram(
        Programs.ChurnNode, node, [role, cluster.Service, cluster.Network.Address(node).ToString(), $"{TopicCount}", .. more]);

    private static void AssertWhole(JsonElement endpoint, long[] sent, NodeProcess publisher)
    {
        Assert.True(endpoint.GetProperty("Fault").ValueKind == JsonValueKind.Null, $"{endpoint}\n{publisher.Report()}");
        var (first, last) = (endpoint.GetProperty("First").GetInt64(), endpoint.GetProperty("Last").GetInt64());
        if (endpoint.GetProperty("Kept").GetBoolean())
        {
            var topic = endpoint.GetProperty("Topic").GetInt32();
            Assert.True((first, last) == (1, sent[topic]), $"{sent[topic]} were published; {endpoint}");
        }

        Assert.Equal(last == 0 ? 0 : last - first + 1, endpoint.GetProperty("Received").GetInt64());
    }

    private static JsonElement Parse(NodeProcess process) => JsonDocument.Parse(process.Output.Text()).RootElement.Clone();
}
