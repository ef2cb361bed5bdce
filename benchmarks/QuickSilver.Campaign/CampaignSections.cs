using QuickSilver.Campaign.Contenders;

namespace QuickSilver.Campaign;

// What is measured, in the order of a round. A peer that the folder does not have has no row.
internal sealed class CampaignSections(CampaignPlan plan, Namespaces namespaces)
{
    private const int LargeMtu = 9000;
    private const int LargestMtu = 65_535;
    private static readonly Load Usual = new(3, 1000);

    public List<Section> List()
    {
        var sections = Loads().Select(Throughput).ToList();
        sections.Add(Variants());
        if (!plan.IsQuick && namespaces.CanHave(LargestMtu))
        {
            sections.AddRange(new Load[] { new(3, 1000), new(3, 100) }.Select(Jumbo));
        }

        sections.Add(RoundTrips());
        return sections;
    }

    private Load[] Loads() => plan.IsQuick ? [new(3, 1000), new(3, 100)] : [new(3, 1000), new(1, 1000), new(3, 100), new(1, 100)];

    private Section Throughput(Load load)
    {
        (string Folder, string Mode)[] chosen = plan.IsQuick
            ? [("raw", "one"), ("ceiling", ""), ("nats", "")]
            : [("raw", "one"), ("raw", "gso"), ("ceiling", ""), ("nats", ""), ("aeron", ""), ("cyclonedds", ""), ("jgroups", "")];
        var own = Own("quicksilver");
        return new Section
        {
            Title = $"{load.Bytes} B, {load.Receivers} {(load.Receivers == 1 ? "receiver" : "receivers")}",
            Slug = $"throughput-{load.Bytes}-{load.Receivers}",
            Load = load,
            Rows = [new Row(own), .. chosen.SelectMany(peer => Peer(peer.Folder, peer.Mode)).Select(peer => new Row(peer, own, peer))],
        };
    }

    private Section Variants()
    {
        var plain = Own("plain");
        var single = Own("single datagrams", "--no-offload");
        var topics = Own("8192 topics", "--topics", "8192");
        var raw = Peer("raw", "one").FirstOrDefault();
        List<Row> rows = [new(plain), new(topics, topics, plain), raw is null ? new(single) : new(single, single, raw)];
        if (raw is not null)
        {
            rows.Add(new Row(raw));
        }

        if (!plan.IsQuick)
        {
            var unicast = Own("unicast copies", "--unicast");
            rows.Add(new Row(unicast, unicast, plain));
            if (namespaces.CanHave(LargeMtu))
            {
                var large = new OwnContender(namespaces, $"MTU {LargeMtu}", LargeMtu, "--packet-bytes", "8900");
                rows.Add(new Row(large, large, plain));
            }
        }

        return new Section
        {
            Title = "QuickSilver's own variants",
            Slug = "variants",
            Text = $"{Usual.Bytes} B to {Usual.Receivers} receivers. The ratio is to the plain run; that of single datagrams, which send "
                + "without\nsegmentation offload, is to `raw-one`, which sends so too.",
            Load = Usual,
            RatioTitle = "It over its yardstick",
            Rows = rows,
        };
    }

    private Section Jumbo(Load load)
    {
        var own = new OwnContender(namespaces, "quicksilver", LargestMtu, "--packet-bytes", "65000");
        return new Section
        {
            Title = $"MTU {LargestMtu}: {load.Bytes} B, {load.Receivers} receivers",
            Slug = $"jumbo-{load.Bytes}-{load.Receivers}",
            Load = load,
            Rows =
            [
                new Row(own),
                .. Peer("aeron", "", ("NETNS_ARGS", $"mtu={LargestMtu}"), ("MTU", "65504")).Select(peer => new Row(peer, own, peer)),
            ],
        };
    }

    private Section RoundTrips()
    {
        var plain = new OwnRoundTrip(namespaces, "quicksilver");
        var spin = new OwnRoundTrip(namespaces, "quicksilver-spin", "--spin");
        return new Section
        {
            Title = "Round trips",
            Slug = "round-trips",
            Text = "100 B there and back, one at a time. `sockperf` promises nothing: it is the kernel's bound, blocking and polling. The "
                + "plain\nrun is held against the former, the polling one (`--spin`) against those that poll too.",
            Load = new Load(1, 100),
            IsRoundTrip = true,
            Rows =
            [
                new Row(plain),
                .. Peer("sockperf", "block").Select(peer => new Row(peer, plain, peer)),
                new Row(spin),
                .. Peer("sockperf", "spin").Concat(Peer("aeron", "ping")).Select(peer => new Row(peer, spin, peer)),
            ],
        };
    }

    private OwnContender Own(string name, params string[] options) => new(namespaces, name, Namespaces.UsualMtu, options);

    private IEnumerable<PeerContender> Peer(string folder, string mode, params (string Name, string Value)[] environment) =>
        plan.Peers is { } peers && File.Exists(Path.Combine(peers.FullName, folder, "run.sh"))
            ? [new PeerContender(peers, folder, mode, environment)]
            : [];
}
