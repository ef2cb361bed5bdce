using System.Text;
using System.Text.Json;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Dashboard;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Tests.Dashboard;

// What the page gets.
public sealed class PageJsonTests
{
    private readonly Departures _departures = new(most: 2, TimeSpan.FromSeconds(60));

    [Fact]
    public void An_event_is_one_line_of_data_whatever_names_contain()
    {
        const string Name = "</script>\n\nevent: history\r\ndata: {}\u2028\u0000";
        var tables = Cluster.At(0, Cluster.Reported(1, new NodeSnapshot { TopicRows = [new TopicSnapshot(Name) { Subscribers = 1 }] }));
        string text = Encoding.UTF8.GetString(PageEvent.Signs(Of(tables)).Span);
        string[] lines = text.Split('\n');
        Assert.Equal(["event: signs", lines[1], "", ""], lines);
        Assert.DoesNotContain('\r', text);
        Assert.DoesNotContain("</script>", text);
        var json = JsonDocument.Parse(lines[1]["data: ".Length..]).RootElement;
        Assert.Equal(Name, json.GetProperty("report").GetProperty("topics")[0].GetProperty("topic").GetString());
    }

    [Fact]
    public void History_and_trouble_are_events_of_their_own()
    {
        string history = Encoding.UTF8.GetString(PageEvent.History([new HistoryPoint { At = 12.5, Published = 3 }]).Span);
        Assert.StartsWith("event: history\ndata: {\"points\":[{\"at\":12.5,\"published\":3,", history);
        string trouble = Encoding.UTF8.GetString(PageEvent.Trouble(new PageTrouble("No service.", 2)).Span);
        Assert.Equal("event: trouble\ndata: {\"reason\":\"No service.\",\"retrySeconds\":2}\n\n", trouble);
    }

    [Fact]
    public void A_silent_node_and_one_in_trouble_are_reported_with_what_to_do()
    {
        var waits = Waits.Of(Cluster.At(
            0,
            Cluster.Reported(1, new NodeSnapshot { Trouble = "The publisher of topic 'a' waits for a reader on node 2." }),
            Cluster.Silent(2)));
        var silent = waits.Single(wait => wait.Severity == "bad");
        Assert.Equal((Cluster.Name(2), "10.0.0.2:5000", 4.0), (silent.Node, silent.Address, silent.Seconds));
        Assert.Contains("heard it 3.5 s ago", silent.Description);
        Assert.NotNull(silent.Remedy);
        Assert.Contains(waits, wait => wait.Node == Cluster.Name(1) && wait.Description.Contains("topic 'a'") && wait.Severity == "warn");
    }

    [Fact]
    public void Each_reason_of_a_node_is_reported_with_whom_it_waits_for_and_what_to_do()
    {
        var reason = new ReasonSnapshot("The publisher of topic 'a' waits for a reader on node 2.")
        {
            Kind = (long)StatusReasonKind.ReaderElsewhereFull,
            WaitsFor = "a reader on node 2",
            SinceMillis = 2_500,
        };
        var newer = new ReasonSnapshot("Something new.") { Kind = 4_000 };
        var signs = new NodeSnapshot { Trouble = reason.What, ReasonRows = [reason, newer] };
        var waits = Waits.Of(Cluster.At(0, Cluster.Reported(1, signs)));
        Assert.Equal([reason.What, newer.What], waits.Select(static wait => wait.Description));
        Assert.Equal(("a reader on node 2", 2.5), (waits[0].WaitsFor, waits[0].Seconds));
        Assert.StartsWith("Look at the reader on that node", waits[0].Remedy);
        Assert.Equal((null, null), (waits[1].WaitsFor, waits[1].Remedy));
    }

    [Fact]
    public void A_node_that_is_not_there_any_more_is_remembered_for_a_while()
    {
        Assert.Empty(_departures.Look(Cluster.At(0, Up(1), Up(2), Up(3))));
        Assert.Empty(_departures.Look(Cluster.At(1, Up(1), Cluster.Silent(2), Up(3))));
        var departed = _departures.Look(Cluster.At(2, Up(1)));
        Assert.Equal(
            [(Cluster.Name(2), true), (Cluster.Name(3), false)],
            departed.OrderBy(one => one.Node).Select(one => (one.Node, one.WasSilent)));
        Assert.All(departed, one => Assert.Equal(Cluster.Start.ToUnixTimeSeconds() + 2, one.At));
        Assert.Equal(2, _departures.Look(Cluster.At(61, Up(1))).Count);
        Assert.Empty(_departures.Look(Cluster.At(63, Up(1))));
    }

    [Fact]
    public void The_newest_departed_nodes_are_remembered()
    {
        _departures.Look(Cluster.At(0, Up(1), Up(2), Up(3)));
        _departures.Look(Cluster.At(1, Up(2), Up(3)));
        _departures.Look(Cluster.At(2, Up(3)));
        Assert.Equal([Cluster.Name(2), Cluster.Name(3)], _departures.Look(Cluster.At(3)).Select(one => one.Node));
    }

    private static NodeReport Up(ulong id) => Cluster.Reported(id, new NodeSnapshot());

    private static PageSigns Of(ClusterTables tables) => new(TopReport.Of(tables), HistoryPoint.Of(tables), Waits.Of(tables), []);
}
