using System.Net;
using System.Text.Json;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Top;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace QuickSilver.Tool.Tests.Top;

// The screen, the lines and the object of qsm top, from fixed data.
public sealed class TopRenderingTests
{
    private static readonly TopView View = new("flights", SortKey.Rate, Filter: null, Rows: 10);

    private static readonly NodeSnapshot Busy = new()
    {
        SpanMillis = 1_000,
        Published = 12_345,
        Delivered = 999,
        BusyPerMille = 421,
        QueueMessages = 6_543,
        PendingPackets = 128,
        AckMedian = 850,
        AckNinetyNinth = 12_400,
        TokenMedian = 310,
        LatenessNinetyNinth = 95,
        CollectorPause = 2_500,
        MemoryBytes = 5 << 20,
        RetentionBytes = 130 << 10,
        Limit = (long)SendLimit.Window,
        LimitPerMille = 730,
        RegionRows = [new RegionSnapshot(0xABC) { View = 3, Members = 4, SentPackets = 500, PendingPackets = 7, Limit = 2 }],
        TopicRows =
        [
            new TopicSnapshot("departures") { Published = 12_000, Subscribers = 3 },
            new TopicSnapshot("[red]gates[/]") { Published = 345, Subscribers = 1 },
        ],
    };

    private static readonly NodeSnapshot Held = new()
    {
        SpanMillis = 1_000,
        TopicRows = [new TopicSnapshot("prices") { Published = 250, Subscribers = 3, Limit = (long)SendLimit.Reader }],
        HeldRows = [new HeldSnapshot("prices") { PerThousandSeconds = 250_400, Reader = "orders@web-3" }],
    };

    private static readonly NodeSnapshot Idle = new()
    {
        SpanMillis = 1_000,
        Delivered = 12_000,
        RegionRows = [new RegionSnapshot(0xABC) { View = 4, Members = 5, ReceivedPackets = 490, TokenMicros = 310, OpenViews = 2 }],
        TopicRows = [new TopicSnapshot("departures") { Delivered = 12_000, Subscribers = 3 }],
    };

    private static readonly ProtocolSnapshot Member = new("Group", "orders")
    {
        View = (2L << 32) + 9,
        Members = 3,
        Orderer = "web-1",
        State = StateStanding.Held,
    };

    private static NodeReport Node(
        ulong id, NodeSnapshot? signs, SnapshotOutcome outcome = SnapshotOutcome.Reported, string? fault = null) => new(
        new MemberSnapshotMessage
        {
            Node = new NodeKey(id << 32, 1),
            EndPoint = new IPEndPoint(new IPAddress([10, 0, 0, (byte)id]), 5000),
            Outcome = outcome,
            SilentMillis = 12_000,
            HeardMillis = 700,
        },
        signs,
        fault);

    private static ClusterTables Tables(TopView? view = null, params NodeReport[] nodes)
    {
        nodes = nodes is []
            ? [Node(1, Busy), Node(2, Idle), Node(3, null, SnapshotOutcome.Silent), Node(4, null, SnapshotOutcome.Unable)]
            : nodes;
        var service = new ClusterSnapshotMessage
        {
            Configuration = (2L << 32) + 17,
            Nodes = nodes.Length,
            Reported = nodes.Length,
            Observers = 1,
            AgeMillis = 65_000,
        };
        return ClusterTables.Of(
            new ClusterSnapshot(service, nodes), new IPEndPoint(IPAddress.Loopback, 7400), view ?? View, new DateTime(2026, 1, 2, 3, 4, 5));
    }

    private static string Render(IRenderable screen, int width = 160)
    {
        var written = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Out = new AnsiConsoleOutput(written),
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
        });
        console.Profile.Width = width;
        console.Write(screen);
        return written.ToString();
    }

    [Fact]
    public void A_topic_that_a_slow_reader_holds_is_shown_with_its_rate_and_the_node_of_the_reader()
    {
        const string Note = "prices: 00000001 is held to 250.4/s by orders@web-3";
        var tables = Tables(nodes: [Node(1, Held)]);
        Assert.Contains(Note, Render(TopScreen.Of(tables, 160, 50)));
        Assert.Contains($"held {Note}", TopText.Lines(tables));
        var report = Assert.Single(TopReport.Of(tables).HeldTopics);
        Assert.Equal(("prices", 250.4, "orders@web-3"), (report.Topic, report.MessagesPerSecond, report.Reader));
        Assert.Empty(Tables(View with { Filter = "flights" }, Node(1, Held)).Held);
    }

    [Fact]
    public void A_group_has_one_row_by_its_newest_view_and_a_note_of_each_member_that_waits()
    {
        var old = Member with { View = (2L << 32) + 8, Members = 2, Orderer = "web-0", Rank = 1, Waiting = 5 };
        var seeking = Member with { Rank = 2, State = StateStanding.Sought, Donor = "web-1", Waiting = 1 };
        var rests = new ProtocolSnapshot("Group", "a group that rests") { View = 3, Members = 1, Orderer = "web-1" };
        var tables = Tables(
            null,
            Node(1, Idle with { ProtocolRows = [seeking] }),
            Node(2, Idle with { ProtocolRows = [Member with { Takers = "web-9" }, rests] }),
            Node(3, Idle with { ProtocolRows = [old] }));

        Assert.Equal(["orders", "a group that rests"], tables.Groups.Select(static row => row.Name));
        string screen = Render(TopScreen.Of(tables, 160, 50));
        string[] lines =
        [
            "orders: 00000002 gives the state to web-9",
            "orders: 00000003 waits for the order of 5 messages by web-0",
            "orders: 00000001 waits for the order of 1 message by web-1 and the state from web-1",
        ];
        Assert.All(lines, line => Assert.Contains(line, screen));
        Assert.Contains("groups: 2", screen);
        var plain = TopText.Lines(tables).ToList();
        int at = plain.IndexOf("group orders  view 2.9  members 3  waiting 6  orderer web-1  state 1 member seeks it");
        Assert.Equal(lines.Select(static line => $"member {line}"), plain.Skip(at + 1).Take(3));
        Assert.Contains("group a group that rests  view 0.3  members 1  waiting 0  orderer web-1  state –", plain);
        Assert.Equal("orders", Assert.Single(Tables(View with { Filter = "ORD" }, [.. tables.Answer.Nodes]).Groups).Name);
    }

    [Fact]
    public void The_object_has_the_members_of_a_group_by_rank()
    {
        var begins = new ProtocolSnapshot("Group", "orders") { State = StateStanding.Sought };
        var other = new ProtocolSnapshot("a protocol of a newer version", "orders") { View = 99 };
        var tables = Tables(
            null, Node(1, Idle with { ProtocolRows = [Member with { Rank = 1, Waiting = 4, Takers = "web-3" }] }),
            Node(2, Idle with { ProtocolRows = [begins, other] }));
        var group = Assert.Single(JsonDocument.Parse(TopReport.Of(tables).ToJson()).RootElement.GetProperty("groups").EnumerateArray());
        const string Members =
            """
            {"node":"0000000200000000.1","name":"00000002","waitingMessages":0,"state":"seeks"},
            {"node":"0000000100000000.1","name":"00000001","view":8589934601,"rank":1,"orderer":"web-1",
            "waitingMessages":4,"state":"has","takers":"web-3"}
            """;
        Assert.Equal(
            """{"group":"orders","view":8589934601,"members":3,"orderer":"web-1","waitingMessages":4,"seekingMembers":1,"nodes":["""
            + Members.ReplaceLineEndings("") + "]}",
            group.GetRawText());
    }

    [Fact]
    public void Without_groups_the_screen_has_no_table_of_them()
    {
        Assert.DoesNotContain("group", Render(TopScreen.Of(Tables(), 160, 50)));
        Assert.Empty(TopReport.Of(Tables()).Groups);
    }

    [Fact]
    public void A_low_terminal_has_room_for_groups()
    {
        ProtocolSnapshot[] rows = [.. Enumerable.Range(0, 20).Select(static i => Member with { Topic = $"orders {i}", Waiting = 2 })];
        var nodes = Enumerable.Range(1, 20).Select(id => Node((ulong)id, Idle with { ProtocolRows = [.. rows] })).ToArray();
        string screen = Render(TopScreen.Of(Tables(null, nodes), 160, 40));
        Assert.True(screen.Split('\n').Length <= 40, screen);
        Assert.Contains("waits for the order of 2 messages by web-1", screen);
    }

    [Fact]
    public void The_screen_has_a_header_and_three_tables()
    {
        string screen = Render(TopScreen.Of(Tables(), 160, 50));
        Assert.Contains("cluster flights  service 127.0.0.1:7400 (up 65 s)  configuration 2.17  nodes 4  03:04:05", screen);
        Assert.Contains("out 12k/s  in 13k/s  topics 2  2 without vital signs", screen);
        string busy = Line(screen, "00000001 10.0.0.1:5000");
        string[] figures = ["12k", "999", "42%", "6.5k", "128", "850 µs", "12.4 ms", "310 µs", "2.5 ms", "5.0 MiB", "130 KiB"];
        foreach (string figure in figures)
        {
            Assert.Contains($" {figure} ", busy);
        }

        Assert.Contains("window 73%", busy);
        Assert.Contains("silent for 12 s, last heard 0.7 s ago", Line(screen, "00000003"));
        Assert.Contains("no vital signs: it is of an older version", Line(screen, "00000004"));
        Assert.Contains("nodes: 2", screen);
        Assert.Contains("regions: 1", screen);
        Assert.Contains("topics: 2", screen);
    }

    [Fact]
    public void All_topics_are_counted_and_not_only_those_that_nodes_report()
    {
        var tables = Tables();
        var service = tables.Answer.Service with { Topics = 4_321 };
        tables = ClusterTables.Of(tables.Answer with { Service = service }, tables.Service, View, tables.At);
        string screen = Render(TopScreen.Of(tables, 160, 50));
        Assert.Contains("  topics 4321  ", screen);
        Assert.Contains("topics: 2 of 4321", screen);
        Assert.Equal(4_321, JsonDocument.Parse(TopReport.Of(tables).ToJson()).RootElement.GetProperty("topicCount").GetInt32());
    }

    [Fact]
    public void Inboxes_are_counted_and_shown_on_request_only()
    {
        var asking = Idle with
        {
            TopicRows = [new TopicSnapshot("prices"), new TopicSnapshot("quicksilver/inbox/a"), new TopicSnapshot("quicksilver/inbox/b")],
        };
        var tables = Tables(null, Node(1, asking));
        Assert.Equal("prices", Assert.Single(tables.Topics).Name);
        Assert.Contains("  topics 3  2 inbox topics not shown (--all)", Render(TopScreen.Of(tables, 160, 50)));
        var json = JsonDocument.Parse(TopReport.Of(tables).ToJson()).RootElement;
        Assert.Equal((3, 2), (json.GetProperty("topicCount").GetInt32(), json.GetProperty("hiddenInboxCount").GetInt32()));

        var all = Tables(View with { HasInboxes = true }, Node(1, asking));
        Assert.Equal(3, all.Topics.Count);
        Assert.DoesNotContain("--all", TopText.Totals(all));
    }

    [Fact]
    public void A_node_is_shown_by_its_name_and_found_by_its_name_and_its_id()
    {
        var process = new ProcessLabel { Machine = "web-3", Process = "dotnet", ProcessId = 4711, Version = "1.2.3" };
        var named = Node(1, Busy);
        named = named with { Node = named.Node with { Name = "orders@web-3", Process = process } };
        foreach (string? filter in (string?[])[null, "orders", "00000001"])
        {
            var tables = Tables(View with { Filter = filter }, named, Node(2, Idle));
            Assert.Contains("orders@web-3 10.0.0.1:5000", Render(TopScreen.Of(tables, 160, 50)));
            Assert.Equal(filter is null ? 2 : 1, tables.Nodes.Count);
        }

        var json = JsonDocument.Parse(TopReport.Of(Tables(null, named)).ToJson()).RootElement.GetProperty("nodes")[0];
        Assert.Equal(
            ("orders@web-3", "web-3", "dotnet", 4711, "1.2.3"),
            (json.GetProperty("name").GetString(), json.GetProperty("machine").GetString(), json.GetProperty("process").GetString(),
                json.GetProperty("processId").GetInt32(), json.GetProperty("version").GetString()));
        var nameless = JsonDocument.Parse(TopReport.Of(Tables(null, Node(2, Idle))).ToJson()).RootElement.GetProperty("nodes")[0];
        Assert.False(nameless.TryGetProperty("name", out _));
    }

    [Fact]
    public void Names_are_text_and_never_markup() => Assert.Contains("[red]gates[/]", Render(TopScreen.Of(Tables(), 160, 50)));

    [Fact]
    public void Texts_of_others_give_no_commands_to_the_terminal()
    {
        const string Command = "\u001b[2J";
        var tables = Tables(null, Node(1, Idle with
        {
            Trouble = Command,
            TopicRows = [new TopicSnapshot(Command)],
            ProtocolRows = [Member with { Topic = Command, Orderer = Command, Waiting = 1 }],
        }));
        Assert.DoesNotContain('\u001b', Render(TopScreen.Of(tables, 160, 50)));
        Assert.All(TopText.Lines(tables), line => Assert.DoesNotContain('\u001b', line));
    }

    [Fact]
    public void A_region_and_a_topic_have_one_row_with_what_all_nodes_report()
    {
        var tables = Tables();
        var region = Assert.Single(tables.Regions);
        Assert.Equal((4, 5, 500, 490, 7), (region.View, region.Members, region.Sent, region.Received, region.Pending));
        Assert.Equal((SendLimit.Window, 310, 2), (region.Limit, region.TokenMicros, region.OpenViews));
        var topic = tables.Topics[0];
        Assert.Equal(("departures", 12_000, 12_000, 3, 2), (topic.Name, topic.Published, topic.Delivered, topic.Subscribers, topic.Nodes));
    }

    [Theory]
    [InlineData(80)]
    [InlineData(100)]
    [InlineData(120)]
    public void A_narrow_terminal_shows_fewer_columns_and_cuts_no_figure(int width)
    {
        string screen = Render(TopScreen.Of(Tables(), width, 50), width);
        Assert.All(screen.Split('\n'), line => Assert.True(line.TrimEnd().Length <= width, line));
        string busy = Line(screen, "00000001 10.0.0.1:5000");
        Assert.DoesNotContain("…", busy);
        Assert.EndsWith("window 73%", busy.TrimEnd());
        Assert.Contains("silent for 12 s, last heard 0.7 s ago", screen);
    }

    [Theory]
    [InlineData(40)]
    [InlineData(60)]
    [InlineData(70)]
    public void A_very_narrow_terminal_still_cuts_no_figure_and_no_head(int width)
    {
        string screen = Render(TopScreen.Of(Tables(), width, 50), width);
        foreach (string name in (string[])["node ", "region ", "topic "])
        {
            Assert.Contains("in/s", Line(screen, $"  {name} "));
        }

        foreach (string name in (string[])["00000001", "0000000000000abc", "departures"])
        {
            Assert.DoesNotContain("…", Line(screen, name));
        }

        Assert.Contains(" 12k ", Line(screen, "00000001"));
        Assert.Contains(" 500 ", Line(screen, "0000000000000abc"));
        Assert.Contains(" 12k ", Line(screen, "departures"));
    }

    [Fact]
    public void A_low_terminal_shows_the_first_rows_and_says_so()
    {
        var nodes = Enumerable.Range(1, 40).Select(id => Node((ulong)id, Idle)).ToArray();
        string screen = Render(TopScreen.Of(Tables(null, nodes), 160, 30));
        Assert.True(screen.Split('\n').Length <= 30, screen);
        Assert.Contains(" of 40", screen);
    }

    [Fact]
    public void Rows_are_sorted_by_what_is_asked_and_nodes_without_an_answer_come_first()
    {
        Assert.Equal(["00000003", "00000004", "00000001", "00000002"], Names(SortKey.Rate));
        Assert.Equal(["00000003", "00000004", "00000001", "00000002"], Names(SortKey.Pending));
        Assert.Equal(["00000001", "00000002", "00000003", "00000004"], Names(SortKey.Name));

        static IEnumerable<string> Names(SortKey sort) => Tables(View with { Sort = sort }).Nodes.Select(row => row.Name);
    }

    [Fact]
    public void A_filter_keeps_what_contains_the_text()
    {
        var tables = Tables(View with { Filter = "DEPART" });
        Assert.Empty(tables.Nodes);
        Assert.Equal("departures", Assert.Single(tables.Topics).Name);
        Assert.Equal("00000002", Assert.Single(Tables(View with { Filter = "10.0.0.2:" }).Nodes).Name);
    }

    [Fact]
    public void Plain_lines_name_each_figure()
    {
        var lines = TopText.Lines(Tables()).ToList();
        Assert.Contains("node 00000003 10.0.0.3:5000: silent for 12 s, last heard 0.7 s ago", lines);
        const string Busiest = "node 00000001 10.0.0.1:5000  out/s 12k  in/s 999  busy 42%  queued 6.5k  pending 128  ack 850 µs";
        Assert.Contains(lines, line => line.StartsWith(Busiest));
        Assert.Contains(lines, line => line.StartsWith("region 0000000000000abc  view 4  members 5"));
        Assert.Contains("topic departures  out/s 12k  in/s 12k  subscribers 3  nodes 2  limit –", lines);
    }

    [Fact]
    public void The_object_has_what_was_reported_and_leaves_out_what_was_not()
    {
        var json = JsonDocument.Parse(TopReport.Of(Tables()).ToJson()).RootElement;
        Assert.Equal(("flights", 4), (json.GetProperty("cluster").GetString(), json.GetProperty("nodeCount").GetInt32()));
        var nodes = json.GetProperty("nodes").EnumerateArray().ToLookup(node => node.GetProperty("state").GetString());
        Assert.Equal(12_345, nodes["reported"].First().GetProperty("publishedPerSecond").GetInt64());
        Assert.Equal(6_543, nodes["reported"].First().GetProperty("publishQueueMessages").GetInt64());
        Assert.Equal("window", nodes["reported"].First().GetProperty("limit").GetString());
        Assert.Equal(12, nodes["silent"].Single().GetProperty("silentSeconds").GetDouble());
        Assert.False(nodes["unable"].Single().TryGetProperty("publishedPerSecond", out _));
        Assert.Equal("departures", json.GetProperty("topics")[0].GetProperty("topic").GetString());
        Assert.Equal("0000000000000abc", json.GetProperty("regions")[0].GetProperty("region").GetString());
    }

    [Fact]
    public void A_wrong_report_of_a_node_is_named()
    {
        var tables = Tables(null, Node(1, null, fault: "invalid vital signs: x"));
        Assert.Contains("invalid vital signs: x", Render(TopScreen.Of(tables, 160, 50)));
        Assert.Contains("\"state\":\"invalid\"", TopReport.Of(tables).ToJson());
    }

    [Theory]
    [InlineData(0, "0")]
    [InlineData(999, "999")]
    [InlineData(1_234, "1.2k")]
    [InlineData(12_345_678, "12M")]
    public void Large_numbers_are_short(long number, string text) => Assert.Equal(text, Figures.Number(number));

    private static string Line(string screen, string with) => screen.Split('\n').Single(line => line.Contains(with));
}
