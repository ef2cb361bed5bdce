using System.Globalization;
using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign;

// QuickSilver beside itself: other paths and forms, and what it does where the network or the offer is not what it would like.
internal sealed class OwnSections(CampaignPlan plan, Namespaces namespaces)
{
    private const int LargeMtu = 9000;
    private const string OverYardstick = "It over its yardstick";

    // For what is allocated: a count, so that what a process allocates once is shared by as many in each round.
    private const long ManyMessages = 10_000_000;
    private const int PoolWarmUpSeconds = 10;

    // About; a run says how many.
    private const int DepartureBytes = 150;

    private const double LinkMegabits = 1000;

    // Ethernet, IP and UDP headers of a full frame, as the shaper counts it: without preamble, checksum and gap.
    private const int FrameHeaderBytes = 14 + 20 + 8;
    private const int FrameBytes = 14 + Namespaces.UsualMtu;

    private static readonly Load Usual = new(3, 1000);

    /// <summary>Ways to send, over the plain run; single datagrams over those of the raw peer, where there is one.</summary>
    public Section Variants(IContender? raw)
    {
        var plain = Own("plain");
        var topics = Own("8192 topics", new OwnTraffic { Options = ["--topics", "8192"] }).HoldOver(plain, Bar.AtLeast(0.95));
        var fed = Own("by a feed", new OwnTraffic { IsFed = true }).HoldOver(plain, Bar.AtLeast(1));
        var manyFed = Own("8192 topics, by feeds", new OwnTraffic { IsFed = true, Options = ["--topics", "8192"] }).HoldOver(fed);
        var single = Own("single datagrams", new OwnTraffic { Options = ["--no-offload"] });
        var over = Own("120 % offered", new OwnTraffic { Rate = new RateShare(plain.Runs, 1.2) }).HoldOver(plain, Bar.AtLeast(0.9));
        List<Row> rows = [plain, topics, fed, manyFed, over, single];
        if (raw is not null)
        {
            var yardstick = new Row(raw);
            single.HoldOver(yardstick, Bar.AtLeast(0.85));
            rows.Add(yardstick);
        }

        if (!plan.IsQuick)
        {
            rows.Add(Own("unicast copies", new OwnTraffic { Options = ["--unicast"] }).HoldOver(plain));
            if (namespaces.CanHave(LargeMtu))
            {
                var large = new OwnTraffic { Options = ["--packet-bytes", "8900"] };
                rows.Add(Own($"MTU {LargeMtu}", large, new Bridge(namespaces, LargeMtu)).HoldOver(plain));
            }
        }

        return new Section
        {
            Title = "QuickSilver's own variants",
            Slug = "variants",
            Text = $"""
                {Usual.Bytes} B to {Usual.Receivers} receivers. The ratio is to the plain run; that of single datagrams, which send without
                segmentation offload, is to `raw-one`, which sends so too. "120 % offered" is given 1.2 times what the plain run of the same
                round delivered. By a feed the node asks for each message when the network can take one (QSM's pull model), where in the
                plain run a task publishes them; 8,192 topics take turns message by message in the one, and with feeds the node asks each
                for up to 1,024 before the next, so their ratio is to one feed.
                """,
            Load = Usual,
            ClaimTitle = OverYardstick,
            Rows = rows,
        };
    }

    public Section Typed()
    {
        var typed = Own("typed", new OwnTraffic { IsTyped = true, Options = ["--typed"] });
        var bytes = Own("bytes of that size", new OwnTraffic { SizeOf = typed.Runs });
        var text = Own("typed, with strings", new OwnTraffic { IsTyped = true, Options = ["--typed-text"] });
        return new Section
        {
            Title = "Typed messages",
            Slug = "typed",
            Text = """
                A flight's departure through its generated codec, beside bytes of the same size. `--typed` is a struct without
                references, its short texts packed into numbers, for which nothing is allocated; `--typed-text` is a class with strings,
                which each receiver allocates: what it costs beyond the former is the price of these objects. 3 receivers.
                """,
            Load = new Load(Usual.Receivers, DepartureBytes),
            Figures = [.. Figure.Throughput, Figure.Payload, Figure.ReceiverAllocated],
            ClaimTitle = "It over bytes",
            Rows = [typed.HoldOver(bytes, Bar.AtLeast(0.8)), bytes, text.HoldOver(bytes)],
        };
    }

    public Section Memory()
    {
        Row Held(string name, params string[] receiverOptions) =>
            Own(name, new OwnTraffic { Count = ManyMessages, WarmUpSeconds = PoolWarmUpSeconds, ReceiverOptions = receiverOptions })
                .Hold("allocated, MB:", Figure.MostAllocated, Bar.AtMost(1))
                .Hold("Gen 1 and 2:", Figure.OldCollections, Bar.AtMost(0))
                .Hold("resident, MB:", Figure.PeakResident, Bar.AtMost(200));
        return new Section
        {
            Title = "Memory",
            Slug = "memory",
            Text = string.Create(CultureInfo.InvariantCulture, $"""
                {ManyMessages:N0} messages of {Usual.Bytes} B to {Usual.Receivers} receivers, as fast as it goes; by a handler, and by a
                reader (`await foreach`) in a task of the thread pool. Allocated is all that a process allocates after
                {PoolWarmUpSeconds} s of warm-up, in which rings and pools grow to what such a load needs, the measuring itself
                included, by the process that allocates most; collections are those of all processes; resident is the most that one
                of them ever had.
                """),
            Load = Usual,
            Figures =
            [
                Figure.Rate, Figure.Lost, Figure.SenderAllocated, Figure.ReceiverAllocated, Figure.OldCollections, Figure.PeakResident,
            ],
            ClaimTitle = "Held to",
            Rows = [Held("handler"), Held("reader", "--reader")],
        };
    }

    public Section ShapedLink()
    {
        var bridge = new Bridge(namespaces, shape: Bridge.OneGigabit);
        const int PayloadBytes = FrameBytes - FrameHeaderBytes;
        const double PayloadMegabits = LinkMegabits * PayloadBytes / FrameBytes;
        var share = new Figure("share", run => Figure.Goodput.Of(run) / PayloadMegabits, "F3");
        return new Section
        {
            Title = "1 Gbit/s",
            Slug = "shaped-link",
            Text = string.Create(CultureInfo.InvariantCulture, $"""
                The sender's link shaped to {LinkMegabits:N0} Mbit/s. The shaper counts each frame of a run with its Ethernet, IP and UDP
                headers ({FrameHeaderBytes} bytes), so of a full frame of {FrameBytes} bytes {PayloadBytes} can be payload. The link's
                payload rate is {LinkMegabits:N0} × {PayloadBytes} / {FrameBytes} = {PayloadMegabits:F1} Mbit/s. Goodput is the
                application's bytes at the slowest receiver; what it lacks of the link's payload rate are QuickSilver's own headers, its
                repairs and its tokens.
                """),
            Load = Usual,
            Figures = [Figure.Rate, Figure.Lost, Figure.Goodput],
            ClaimTitle = "Goodput over the link's payload rate",
            Rows = [Own("quicksilver", new OwnTraffic(), bridge).Hold("", share, Bar.AtLeast(0.93))],
        };
    }

    public Section Loss(DirectoryInfo lab)
    {
        const double Share = 0.8;
        var lossless = Own("lossless", new OwnTraffic(), new Lab(lab, "loss=0"));
        var lossy = Own("1 % loss, 80 % offered", new OwnTraffic { Rate = new RateShare(lossless.Runs, Share) }, new Lab(lab, "loss=1"));
        return new Section
        {
            Title = "Loss",
            Slug = "loss",
            Text = string.Create(CultureInfo.InvariantCulture, $"""
                Behind a switch that loses 1 % of the frames to each receiver, independently. Offered is {Share:P0} of what the lossless
                run of the same round delivered behind the same switch; the ratio is what was delivered over what was offered.
                """),
            Load = Usual,
            ClaimTitle = "Delivered over offered",
            Rows =
            [
                lossless,
                lossy.Hold(new Claim("", () => lossy.Runs.Over(lossless.Runs, Figure.Rate.Of).Times(1 / Share), "F2", Bar.AtLeast(0.95))),
            ],
        };
    }

    private Row Own(string name, OwnTraffic? traffic = null, ITestbed? testbed = null) =>
        new(new OwnContender(testbed ?? new Bridge(namespaces), name, traffic ?? new OwnTraffic()));
}
