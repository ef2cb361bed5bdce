using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// `qsm sim run` as a script sees it: one JSON object, the same trace for the same command line, and a report with all of a curve.
// No network is needed: all of it is virtual.
public sealed class SimulationScenarios
{
    private static readonly string[] Short = ["--seconds", "0.5", "--json"];

    [Fact]
    public void The_same_command_line_gives_the_same_trace_and_another_seed_another()
    {
        var first = Sim("throughput-vs-nodes", ["--nodes", "4", "--seed", "7", .. Short]);
        var again = Sim("throughput-vs-nodes", ["--nodes", "4", "--seed", "7", .. Short]);
        var other = Sim("throughput-vs-nodes", ["--nodes", "4", "--seed", "8", .. Short]);

        Assert.Equal(first.GetProperty("traceHash").GetString(), again.GetProperty("traceHash").GetString());
        Assert.NotEqual(first.GetProperty("traceHash").GetString(), other.GetProperty("traceHash").GetString());
    }

    [Theory]
    [InlineData("throughput-vs-nodes")]
    [InlineData("token-rtt-vs-nodes")]
    [InlineData("pending-acks-vs-nodes")]
    [InlineData("perturbed-sleep")]
    [InlineData("perturbed-loss")]
    [InlineData("topics")]
    [InlineData("latency-vs-rate")]
    [InlineData("replication-factor")]
    [InlineData("token-rate")]
    [InlineData("feedback-ranges")]
    [InlineData("processor-vs-rate")]
    [InlineData("feedback-vs-nodes")]
    [InlineData("feedback-over-time")]
    [InlineData("alarm-delays")]
    [InlineData("load-vs-rate")]
    [InlineData("token-distributions")]
    [InlineData("region-per-topic")]
    public void Each_scenario_reports_what_was_delivered_and_loses_nothing(string scenario)
    {
        // Four communities of two receivers, so that there are rings.
        string[] size = scenario == "region-per-topic" ? ["--nodes", "9", "--topics", "4"] : ["--nodes", "3", "--topics", "2"];
        var report = Sim(scenario, [.. size, .. Short]);

        string[] names = ["messagesPerSecond", "deliveries", "tokenRoundTripMillis", "pendingAcks", "virtualSeconds", "wallSeconds"];
        foreach (string name in names)
        {
            Assert.True(report.GetProperty(name).GetDouble() > 0, $"{name} of {report}");
        }

        Assert.Equal(0, report.GetProperty("gaps").GetInt64());
        Assert.Equal(0, report.GetProperty("missing").GetInt64());
        Assert.Contains("100 Mbit/s", report.GetProperty("model").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("isis-throughput", "--size", "1000", "--variant", "total, 4")]
    [InlineData("isis-throughput", "--size", "140000", "--variant", "causal, 2")]
    [InlineData("isis-sync-throughput", "--size", "4", "--variant", "causal, 6")]
    [InlineData("isis-sync-throughput", "--size", "1000", "--variant", "total, the sender")]
    [InlineData("isis-latency", "--nodes", "3", "--variant", "total")]
    [InlineData("isis-churn")]
    [InlineData("isis-senders", "--nodes", "4", "--warm-up", "1", "--variant", "all send, total")]
    [InlineData("isis-senders", "--nodes", "4", "--warm-up", "1", "--variant", "three tokens, causal")]
    public void Each_scenario_of_groups_has_the_same_trace_again_and_loses_nothing(string scenario, params string[] arguments)
    {
        var report = Sim(scenario, [.. arguments, .. Short]);
        var again = Sim(scenario, [.. arguments, .. Short]);

        Assert.True(report.GetProperty("kilobytesPerSecond").GetDouble() > 0, report.ToString());
        Assert.Equal(0, report.GetProperty("gaps").GetInt64());
        Assert.Equal(0, report.GetProperty("missing").GetInt64());
        Assert.Contains(" 10 Mbit/s", report.GetProperty("model").GetString(), StringComparison.Ordinal);
        Assert.Equal(report.GetProperty("traceHash").GetString(), again.GetProperty("traceHash").GetString());
    }

    [Fact]
    public void A_message_waits_for_the_member_that_orders_unless_its_sender_does()
    {
        var causal = Sim("isis-latency", ["--nodes", "4", "--variant", "causal", .. Short]);
        var total = Sim("isis-latency", ["--nodes", "4", "--variant", "total", .. Short]);
        var own = Sim("isis-latency", ["--nodes", "4", "--variant", "total, the sender orders", .. Short]);

        Assert.True(LatencyOf(total) > 1.3 * LatencyOf(causal), $"{total} after {causal}");
        Assert.InRange(LatencyOf(own), 0.9 * LatencyOf(causal), 1.1 * LatencyOf(causal));

        static double LatencyOf(JsonElement report) => report.GetProperty("latencyMeanMillis").GetDouble();
    }

    [Fact]
    public void A_join_and_a_leave_disturb_a_few_messages_and_the_others_not()
    {
        var report = Sim("isis-churn", ["--seconds", "4", "--json"]);
        var still = Sim("isis-churn", ["--seconds", "4", "--variant", "four members", "--json"]);

        double[] latencies = LatenciesOf(report);
        double usual = LatenciesOf(still).Max();
        Assert.InRange(latencies.Length, 990, 1010);
        Assert.True(latencies.Max() > 2 * usual, $"{latencies.Max()} ms at most, {usual} ms without");
        Assert.InRange(latencies.Count(latency => latency > usual), 2, 50);

        static double[] LatenciesOf(JsonElement report) =>
            [.. report.GetProperty("traces")[0].GetProperty("values").EnumerateArray().Select(value => value.GetDouble())];
    }

    [Fact]
    public void Many_senders_at_once_lose_packets_and_three_tokens_cure_it()
    {
        string[] size = ["--nodes", "8", "--seconds", "4", "--warm-up", "1", "--json"];
        var all = Sim("isis-senders", ["--variant", "all send, causal", .. size]);
        var inTurn = Sim("isis-senders", ["--variant", "three tokens, causal", .. size]);

        Assert.True(all.GetProperty("packetsLost").GetInt64() > 1000, all.ToString());
        Assert.Equal(0, inTurn.GetProperty("packetsLost").GetInt64());
        Assert.True(inTurn.GetProperty("kilobytesPerSecond").GetDouble() > 600, inTurn.ToString());
    }

    [Fact]
    public void Faults_and_machines_are_as_asked_for()
    {
        string[] asked = ["--nodes", "3", "--faults", "loss=0.02,sleep", "--model", "modern", "--rate", "2000"];

        var report = Sim("throughput-vs-nodes", [.. asked, .. Short]);

        Assert.Equal("sleep,loss=0.02", report.GetProperty("faults").GetString());
        Assert.True(report.GetProperty("repairsSent").GetInt64() > 0);
        Assert.Contains("10000 Mbit/s", report.GetProperty("model").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_report_is_one_page_that_asks_for_nothing_else_with_the_curve_beside_it()
    {
        string folder = Directory.CreateTempSubdirectory("qsm-sim").FullName;
        try
        {
            string page = Path.Combine(folder, "curve.html");
            _ = Sim("throughput-vs-nodes", ["--nodes", "10", "--variant", "one sender", "--report", page, .. Short]);
            _ = Sim("irregular-overlap", ["--nodes", "30", "--topics", "1500", "--report", Path.Combine(folder, "overlap.html"), .. Short]);

            string html = File.ReadAllText(page);
            Assert.Contains("The paper says:", html, StringComparison.Ordinal);
            Assert.Contains("new uPlot(", html, StringComparison.Ordinal);
            Assert.Contains("The MIT License", html, StringComparison.Ordinal);
            Assert.DoesNotContain(" src=", html, StringComparison.Ordinal);
            Assert.DoesNotContain("<link", html, StringComparison.Ordinal);
            string[] csv = File.ReadAllLines(Path.Combine(folder, "curve.csv"));
            Assert.Equal(3, csv.Length);
            Assert.StartsWith("scenario,nodes,topics,seed,", csv[0], StringComparison.Ordinal);
            Assert.StartsWith("\"throughput-vs-nodes\",2,1,1,", csv[1], StringComparison.Ordinal);
            Assert.StartsWith("\"throughput-vs-nodes\",10,1,1,", csv[2], StringComparison.Ordinal);
            // Two points of each of fourteen variants.
            Assert.Equal(1 + (2 * 14), File.ReadAllLines(Path.Combine(folder, "overlap.csv")).Length);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void A_report_of_several_figures_is_json_markdown_and_one_page()
    {
        string folder = Directory.CreateTempSubdirectory("qsm-sim").FullName;
        try
        {
            string[] names = ["throughput-vs-nodes", "token-rtt-vs-nodes", "alarm-delays", "isis-churn"];
            var (code, _, errors) = Qsm(["report", .. names, "--most-nodes", "20", "--times", "0.5", "--out", folder]);

            Assert.True(code == 0, errors);
            var figures = JsonDocument.Parse(File.ReadAllText(Path.Combine(folder, "figures.json"))).RootElement;
            Assert.Equal(names, figures.EnumerateArray().Select(figure => figure.GetProperty("scenario").GetString()));
            // 2 and 20 nodes of two variants, 20 of two senders, and the same runs of the first of them.
            Assert.Equal([5, 2, 3, 3], figures.EnumerateArray().Select(figure => figure.GetProperty("points").GetArrayLength()));
            Assert.Equal(
                figures[0].GetProperty("points")[1].GetProperty("traceHash").GetString(),
                figures[1].GetProperty("points")[1].GetProperty("traceHash").GetString());
            Assert.Equal(2, figures[2].GetProperty("points")[0].GetProperty("traces").GetArrayLength());
            string page = File.ReadAllText(Path.Combine(folder, "figures.html"));
            string text = File.ReadAllText(Path.Combine(folder, "figures.md"));
            Assert.All(names, name => Assert.Contains(name, page, StringComparison.Ordinal));
            Assert.Contains("| two senders | 20 |", text, StringComparison.Ordinal);
            // A table of each message is none that is read.
            Assert.Contains("values, in figures.json", text, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Theory]
    [InlineData("Name scenarios, or use --all.", "report")]
    [InlineData("Use either names of scenarios or --all", "report", "topics", "--all")]
    [InlineData("Unknown scenario 'nothing'", "report", "nothing")]
    [InlineData("'0' is not a number from 1 to 256", "report", "topics", "--jobs", "0")]
    [InlineData("topics has no variant 'dense'", "run", "topics", "--variant", "dense")]
    [InlineData("Unknown weight 'dense'", "run", "topics", "--topic-weight", "dense")]
    [InlineData("leave no receiver", "run", "topics", "--nodes", "3", "--senders", "3")]
    [InlineData("has 8 to 60000 bytes, not 4", "run", "topics", "--size", "4")]
    [InlineData("has 8 to 60000 bytes, not 60001", "run", "topics", "--size", "60001")]
    [InlineData("has 2 nodes, not 3", "run", "isis-throughput", "--nodes", "3")]
    [InlineData("isis-latency supports loss only", "run", "isis-latency", "--faults", "sleep")]
    [InlineData("leave no receiver", "run", "isis-churn", "--senders", "4")]
    [InlineData("has 3 nodes at least", "run", "isis-churn", "--nodes", "2")]
    public void Wrong_arguments_are_refused_by_name(string error, params string[] arguments)
    {
        var (code, _, errors) = Qsm(arguments);

        Assert.Equal(2, code);
        Assert.Contains(error, errors, StringComparison.Ordinal);
    }

    private static JsonElement Sim(string scenario, string[] arguments)
    {
        var (code, output, errors) = Qsm(["run", scenario, .. arguments]);
        Assert.True(code == 0, errors + output);
        return JsonDocument.Parse(output).RootElement.Clone();
    }

    private static (int Code, string Output, string Errors) Qsm(string[] arguments) =>
        LimitedProcess.Run(new ProcessStartInfo(Programs.Qsm, ["sim", .. arguments]));
}
