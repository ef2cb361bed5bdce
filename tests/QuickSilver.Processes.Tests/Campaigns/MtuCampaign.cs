using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns;

// The MTU of a path falls to 1,280 during a run: delivery continues within 3 s, and nothing is lost.
//   mtu [ipv6] [rounds=5] [rate=5000] [bytes=1400]        rate=0: as many as flow control allows
//
// Each round has both ways: the interface of the publisher refuses larger packets, and the network loses those to and from one reader
// without notice, of TCP too. Most messages alone are larger than a packet of the narrow path. Everything is protected by a secret. In the
// end one more node joins over the narrow path, whose certificates are larger than a packet.
internal sealed class MtuCampaign(CampaignLog log, bool isIpv6, int rate, int bytes)
{
    private const int LateMessages = 100;
    private const int NarrowMtu = 1280;
    private const int Victim = 2;
    private const int PublisherHost = 1;
    private static readonly int[] ReaderHosts = [2, 3, 4];
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Before = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan After = TimeSpan.FromSeconds(8);

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("mtu", log =>
    {
        var campaign = new MtuCampaign(log, arguments.Has("ipv6"), arguments.Number("rate", 5000), arguments.Number("bytes", 1400));
        for (int round = 1; round <= arguments.Number("rounds", 5); round++)
        {
            campaign.Round($"round {round}, interface", LowerInterface);
            campaign.Round($"round {round}, path", LowerPath);
        }
    });

    public static void LowerInterface(QsmCluster cluster) =>
        IpCommand.Run("-n", cluster.Network.Name(PublisherHost), "link", "set", TapDevice.InterfaceName, "mtu", $"{NarrowMtu}");

    public static void LowerPath(QsmCluster cluster)
    {
        var narrow = new Impairment { MtuBytes = NarrowMtu };
        for (int other = 1; other <= cluster.Network.Count; other++)
        {
            if (other != Victim)
            {
                (cluster.Switch[other, Victim], cluster.Switch[Victim, other]) = (narrow, narrow);
            }
        }
    }

    public void Round(string name, Action<QsmCluster> lower)
    {
        using var secret = new SecretFile();
        using var run = new StreamNodes(new QsmCluster(1 + ReaderHosts.Length, isIpv6: isIpv6, secretFileOf: _ => secret.Path));
        var publisher = run.Node(PublisherHost);
        var readers = ReaderHosts.Select(host => run.Subscriber(host, "mtu reliable handler")).ToList();
        StreamNodes.Do(publisher, $"open mtu reliable {readers.Count}", "open mtu");
        double seconds = (Before + After).TotalSeconds;
        publisher.Feed(rate > 0
            ? string.Create(CultureInfo.InvariantCulture, $"pace mtu {seconds:0} {bytes} {rate}\n")
            : string.Create(CultureInfo.InvariantCulture, $"flood mtu {seconds:0} {bytes}\n"));
        Thread.Sleep(Before);
        long option = PathBytes(publisher);
        double usual = readers.Max(Pause);

        lower(run.Cluster);
        long lowered = Stopwatch.GetTimestamp();
        TimeSpan followed = WaitUntil(() => PathBytes(publisher) < option, After);
        long sent = StreamNodes.LastNumber(StreamNodes.WaitFor(publisher, "published mtu"));
        TimeSpan published = Stopwatch.GetElapsedTime(lowered);
        readers.ForEach(reader => reader.Feed($"expect mtu 1 {sent}\n"));
        bool all = readers.TrueForAll(reader => StreamNodes.WaitFor(reader, "has mtu").EndsWith($" {sent} 0", StringComparison.Ordinal));
        TimeSpan behind = Stopwatch.GetElapsedTime(lowered) - published;
        double[] pauses = [.. readers.Select(Pause)];
        long lost = Enumerable.Range(1, run.Cluster.Network.Count).Sum(other => run.Cluster.Switch.TooLarge(other, Victim));

        log.Say(string.Create(
            CultureInfo.InvariantCulture,
            $"{name}: {sent} messages; packets of {option} bytes became {PathBytes(publisher)} after {followed.TotalSeconds:0.00} s; "
            + $"longest pause {usual:0} ms before, then {string.Join(", ", pauses)} ms; all delivered {behind.TotalSeconds:0.00} s after "
            + $"the last was published; {lost} packets were too large"));
        log.Hold(all, $"{name}: all {sent} messages came to all readers");
        log.Hold(PathBytes(publisher) < option, $"{name}: packets became smaller");
        log.HoldInTime(followed < Limit, $"{name}: packets became smaller within {Limit.TotalSeconds} s");
        log.HoldInTime(
            pauses.Max() <= Limit.TotalMilliseconds, $"{name}: no pause of more than {Limit.TotalSeconds} s, but {pauses.Max()} ms");
        log.HoldInTime(behind <= Limit, $"{name}: what was published was delivered within {Limit.TotalSeconds} s");
        var late = run.Subscriber(Victim, "late reliable handler");
        StreamNodes.Do(publisher, "open late reliable 1", "open late");
        StreamNodes.Do(publisher, $"publish late {LateMessages} {bytes}", $"published late {LateMessages}");
        bool isServed = StreamNodes.Ask(late, $"expect late 1 {LateMessages}", "has late") == $"has late {LateMessages} 0";
        log.Hold(isServed, $"{name}: a node that joins over the narrow path gets everything");
        run.EndAndExpectNothingWrong();
    }

    private static TimeSpan WaitUntil(Func<bool> condition, TimeSpan limit)
    {
        long start = Stopwatch.GetTimestamp();
        while (!condition() && Stopwatch.GetElapsedTime(start) < limit)
        {
            Thread.Sleep(20);
        }

        return Stopwatch.GetElapsedTime(start);
    }

    private static long PathBytes(NodeProcess node) =>
        StreamNodes.LastNumber(StreamNodes.Ask(node, "meter quicksilver.path.bytes", "meter quicksilver.path.bytes"));

    private static double Pause(NodeProcess node) => StreamNodes.LongestPause(node, "mtu");
}
