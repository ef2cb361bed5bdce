using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign;

// What security costs: everything sealed, beside everything in plain.
internal sealed class SealedSections(Namespaces namespaces)
{
    private const double RateShare = 0.15;

    // Until the compiler has done with what runs often.
    private const int WarmUpSeconds = 8;

    // One message fills a packet, sealed or not.
    private static readonly Load Full = new(3, 1300);

    private readonly Bridge _bridge = new(namespaces);

    private static string[] Sealed => ["--security", ClusterSecret.Path];

    public Section Cost()
    {
        var cipher = new Row(new OpenSslContender());
        var fastest = Own("plain, as fast as it goes", new OwnTraffic { WarmUpSeconds = WarmUpSeconds }, _bridge);
        var rate = new RateShare(fastest.Runs, RateShare);
        var plain = Own("plain", new OwnTraffic { WarmUpSeconds = WarmUpSeconds, Rate = rate }, _bridge);
        var @sealed = Own("sealed", new OwnTraffic { WarmUpSeconds = WarmUpSeconds, Rate = rate, Options = Sealed }, _bridge);
        var traffic = new OwnTraffic { WarmUpSeconds = WarmUpSeconds, Options = Sealed };
        var fastestSealed = Own("sealed, as fast as it goes", traffic, _bridge).HoldOver(fastest);
        foreach (var (side, figure) in new[] { ("sender", Figure.SenderNanos), ("receiver", Figure.ReceiverNanos) })
        {
            Claim Over(string unit, Figure of, Bar? bar) => new(
                $"{side}, over {unit}", () => @sealed.Runs.Added(plain.Runs, figure.Of, cipher.Runs, of.Of), "F2", bar);
            @sealed.Hold(Over("the cipher", Figure.CipherNanos, Bar.AtMost(1.6))).Hold(Over("a stream", Figure.StreamNanos, null));
        }

        @sealed.Hold("allocated, MB:", Figure.MostAllocated, Bar.AtMost(1));
        return new Section
        {
            Title = "Sealed packets",
            Slug = "sealed",
            Text = $"""
                With a secret, each packet is encrypted and authenticated by AES-256-GCM. {Full.Bytes} B fill a packet. The added time of a
                sealed message is that of the process, user and system, beside a plain one at the same rate in the same round: 0.15 of what
                went as fast as it goes. It is over `openssl speed -aead`, which does what a packet needs (a nonce, associated data, the
                data, the tag), and over `openssl speed` without that option, which encrypts one long stream in parts of this size.
                """,
            Load = Full,
            Figures =
            [
                Figure.SenderNanos, Figure.ReceiverNanos, Figure.CipherNanos, Figure.StreamNanos, Figure.MostAllocated, Figure.Rate,
                Figure.Lost,
            ],
            ClaimTitle = "It adds, or is held to",
            Rows = [cipher, fastest, plain, @sealed, fastestSealed],
        };
    }

    public Section Link()
    {
        var bridge = new Bridge(namespaces, shape: Bridge.OneGigabit);
        var plain = Own("plain", new OwnTraffic(), bridge);
        return new Section
        {
            Title = "Sealed packets at 1 Gbit/s",
            Slug = "sealed-link",
            Text = "The sender's link shaped to 1,000 Mbit/s. A sealed packet has 36 bytes less room, of 1,472.",
            Load = new Load(3, 1000),
            Figures = [Figure.Rate, Figure.Lost, Figure.Goodput],
            ClaimTitle = "Sealed over plain",
            Rows = [plain, Own("sealed", new OwnTraffic { Options = Sealed }, bridge).HoldOver(plain, Bar.AtLeast(0.97))],
        };
    }

    private static Row Own(string name, OwnTraffic traffic, ITestbed bed) => new(new OwnContender(bed, name, traffic));
}
