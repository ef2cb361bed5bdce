using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// One publisher with two topics to the same two nodes. In one of them, the reader of one topic does not read: both sides say so, and
// the other topic continues. I1, I21.
[Collection(nameof(Alone))]
public sealed class SlowReaderScenarios
{
    private const int Interrupted = 130;
    private const string Held = "The publisher of topic \"held\" waits for a reader on node";
    private const string Full = "A reader of topic \"held\" on this node has no room for messages of node";

    [Fact]
    public void A_reader_that_does_not_read_is_named_on_both_sides_and_another_topic_loses_nothing()
    {
        using var cluster = new QsmCluster(3);
        var stuck = Receive(cluster, 2, "--beside-stalls");
        var other = Receive(cluster, 3);
        string[] length = ["--seconds", "600", "--warm-up", "1", "--rate", "5000", "--size", "100", "--receivers", "2"];
        var sender = cluster.Join(1, ["perf", "send", "free", "--beside", "held", "--beside-rate", "20000", "--json", .. length]);

        sender.WaitForErrors(errors => errors.Text().Contains(Held, StringComparison.Ordinal), "the publisher to say whom it waits for");
        stuck.WaitForErrors(errors => errors.Text().Contains(Full, StringComparison.Ordinal), "the reader's node to say that it is full");
        var troubles = Troubles(cluster);
        Assert.Contains(troubles, trouble => trouble.Contains(Held, StringComparison.Ordinal));
        Assert.Contains(troubles, trouble => trouble.Contains(Full, StringComparison.Ordinal));
        Assert.Equal(2, troubles.Count);

        sender.Send(ProcessSignal.Interrupt);
        sender.ExpectExit(Interrupted);
        long sent = Report(sender).GetProperty("sent").GetInt64();
        Assert.True(sent > 0, sender.Report());
        foreach (var receiver in (NodeProcess[])[stuck, other])
        {
            receiver.ExpectExit(0);
            var report = Report(receiver);
            Assert.Equal(sent, report.GetProperty("delivered").GetInt64());
            Assert.Equal(0, report.GetProperty("gaps").GetInt64());
        }

        Assert.Equal(1, Report(stuck).GetProperty("besideMessages").GetInt64());
        Assert.DoesNotContain(Full, other.Errors.Text());
        Assert.DoesNotContain(Held, other.Errors.Text());
    }

    private static NodeProcess Receive(QsmCluster cluster, int node, params string[] more)
    {
        var receiver = cluster.Join(node, ["perf", "receive", "free", "--beside", "held", "--json", .. more]);
        QsmCluster.WaitUntilReady(receiver);
        return receiver;
    }

    // What the nodes report as wrong, as `qsm top` shows it.
    private static List<string> Troubles(QsmCluster cluster)
    {
        var top = cluster.Join(1, ["top", "--count", "1", "--json"]);
        top.ExpectExit(0);
        return [.. Report(top).GetProperty("nodes").EnumerateArray()
            .Where(node => node.TryGetProperty("trouble", out var trouble) && trouble.ValueKind == JsonValueKind.String)
            .Select(node => node.GetProperty("trouble").GetString()!)];
    }

    private static JsonElement Report(NodeProcess process) => JsonDocument.Parse(process.Output.Text()).RootElement.Clone();
}
