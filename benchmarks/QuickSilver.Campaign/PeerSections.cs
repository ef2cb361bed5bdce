using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign;

// QuickSilver beside the bounds and beside peers, and the bars of these. A peer that the folder does not have has no row.
internal sealed class PeerSections(CampaignPlan plan, Namespaces namespaces)
{
    private const int LargestMtu = 65_535;
    private static readonly string[] Rivals = ["nats", "aeron", "cyclonedds", "jgroups"];

    // Over the managed ceiling, by load.
    private static readonly Dictionary<Load, Bar> CeilingBars = new()
    {
        [new Load(3, 1000)] = Bar.AtLeast(0.6),
        [new Load(1, 1000)] = Bar.AtLeast(0.5),
        [new Load(3, 100)] = Bar.AtLeast(0.35),
    };

    // A rival's, where datagrams are of the usual size: it is held to the best of them, and so to each.
    private static readonly Bar RivalBar = Bar.AtLeast(5);
    private static readonly Bar JumboBar = Bar.AtLeast(1);
    private static readonly Bar CpuBar = Bar.AtMost(2.5);

    public IEnumerable<Section> Throughput()
    {
        Load[] loads = plan.IsQuick ? [new(3, 1000), new(3, 100)] : [new(3, 1000), new(1, 1000), new(3, 100), new(1, 100)];
        return loads.Select(Throughput);
    }

    /// <summary>Round trips idle, and with the given rates' half beside them.</summary>
    public Section RoundTrips(Series peak, Load background)
    {
        var usual = new Bridge(namespaces);
        var plain = new Row(new OwnRoundTrip(usual, "quicksilver"));
        var loaded = new Row(new LoadedRoundTrip(usual, "quicksilver at half the peak", background, new RateShare(peak, 0.5)));
        var spin = new Row(new OwnRoundTrip(usual, "quicksilver-spin", "--spin"));
        List<Row> rows = [plain];
        foreach (var floor in Peer("sockperf", "block").Select(peer => new Row(peer)))
        {
            rows.Add(floor
                .Hold("p50", plain, floor, Figure.P50, Bar.AtMost(1.5))
                .Hold("p99", plain, floor, Figure.P99, Bar.AtMost(2)));
            loaded.Hold("p50 over sockperf-block", loaded, floor, Figure.P50, Bar.AtMost(5));
        }

        rows.AddRange([loaded, spin]);
        rows.AddRange(Peer("sockperf", "spin").Select(peer => new Row(peer)).Select(row => row.Hold("", spin, row, Figure.P50)));
        rows.AddRange(Peer("aeron", "ping", ("JOPTS", "-Dthreading=INVOKER")).Select(peer => new Row(peer))
            .Select(row => row.Hold("", spin, row, Figure.P50, Bar.AtMost(2.5))));
        return new Section
        {
            Title = "Round trips",
            Slug = "round-trips",
            Text = $"""
                100 B there and back, one at a time. `sockperf` promises nothing: it is the kernel's bound, blocking and polling. The plain
                run is held against the former, the polling one (`--spin`) against those that poll too. At half the peak, other processes
                on the same machine and links move half of what `quicksilver` moved in the same round, {background}: what they move is in
                the third column.
                """,
            Load = new Load(1, 100),
            Figures = [.. Figure.RoundTrip, Figure.Rate with { Title = "load, msg/s" }],
            Rows = rows,
        };
    }

    /// <summary>Links that take the largest datagrams, where the fastest peer is by far at its best.</summary>
    public IEnumerable<Section> Jumbo() => namespaces.CanHave(LargestMtu)
        ? new Load[] { new(3, 1000), new(3, 100) }.Select(Jumbo)
        : [];

    public IEnumerable<PeerContender> Peer(string folder, string mode, params (string Name, string Value)[] environment) =>
        plan.Peers is { } peers && File.Exists(Path.Combine(peers.FullName, folder, "run.sh"))
            ? [new PeerContender(peers, folder, mode, environment)]
            : [];

    private Section Throughput(Load load)
    {
        var own = new Row(new OwnContender(new Bridge(namespaces), "quicksilver", new OwnTraffic()));
        string[] rivals = plan.IsQuick ? [Rivals[0]] : Rivals;
        List<Row> rows = [own];
        rows.AddRange(Rows("raw", "one").Select(row => row.HoldUnder(own)));
        rows.AddRange(Rows("raw", "gso").Select(row => row
            .HoldUnder(own).Hold("CPU", own, row, Figure.Cpu, load.Receivers > 1 ? CpuBar : null)));
        rows.AddRange(Rows("ceiling", "").Select(row => row.HoldUnder(own, CeilingBars.GetValueOrDefault(load))));
        rows.AddRange(rivals.SelectMany(rival => Rows(rival, ""))
            .Select(row => row.HoldUnder(own, load.Receivers > 1 ? RivalBar : null)));
        return new Section
        {
            Title = $"{load.Bytes} B, {load.Receivers} {(load.Receivers == 1 ? "receiver" : "receivers")}",
            Slug = $"throughput-{load.Bytes}-{load.Receivers}",
            Load = load,
            Rows = rows,
        };
    }

    private Section Jumbo(Load load)
    {
        var own = new Row(new OwnContender(
            new Bridge(namespaces, LargestMtu), "quicksilver", new OwnTraffic { Options = ["--packet-bytes", "65000"] }));
        return new Section
        {
            Title = $"MTU {LargestMtu}: {load.Bytes} B, {load.Receivers} receivers",
            Slug = $"jumbo-{load.Bytes}-{load.Receivers}",
            Load = load,
            Rows =
            [
                own,
                .. Peer("aeron", "", ("NETNS_ARGS", $"mtu={LargestMtu}"), ("MTU", "65504"))
                    .Select(peer => new Row(peer).HoldUnder(own, JumboBar)),
            ],
        };
    }

    private IEnumerable<Row> Rows(string folder, string mode) => Peer(folder, mode).Select(peer => new Row(peer));
}
