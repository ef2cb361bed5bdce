using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns.Liar;

// F22, I24: a member that lies does no harm to topics in which it is not.
//   liar [pairs=5] [seconds=10] [percent=20]
//
// Five hosts: the service and a publisher at full speed, two readers of it, the liar, and its neighbour in a topic beside, into which the
// publisher and both of them send. The liar is a node like others, and the switch changes numbers in what it sends, in turn with the same
// packets unchanged. Nothing is protected: a member of a cluster with a key has the key, and its lies pass the seal.
internal sealed class LiarCampaign : IDisposable
{
    private const int Liar = 4;
    private const int Neighbour = 5;
    private const int PayloadBytes = 1000;
    private const double LeastThroughput = 0.95;
    private const long MostHeapGrowth = 4 << 20;
    private const string Beside = "pace beside 86400 200 100";
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(3);
    private readonly CampaignLog _log;
    private readonly MemberLies _lies;
    private readonly StreamNodes _run = new(hosts: 5);
    private readonly NodeProcess _publisher;
    private readonly List<NodeProcess> _readers;
    private readonly NodeProcess _liar;
    private readonly NodeProcess _neighbour;

    public LiarCampaign(CampaignLog log, int percent)
    {
        _log = log;
        _lies = new MemberLies(percent);
        _publisher = _run.Node(1);
        _readers = [_run.Subscriber(2, "wall reliable handler"), _run.Subscriber(3, "wall reliable handler")];
        _liar = _run.Transient(Liar, "beside reliable handler");
        _neighbour = _run.Transient(Neighbour, "beside reliable handler");
        StreamNodes.Do(_publisher, "open wall reliable 2", "open wall");
        foreach (var node in (NodeProcess[])[_publisher, _liar, _neighbour])
        {
            StreamNodes.Do(node, "open beside reliable 2", "open beside");
        }
    }

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("liar", log =>
    {
        using var campaign = new LiarCampaign(log, arguments.Number("percent", 20));
        campaign.RunAll(arguments.Number("pairs", 5), TimeSpan.FromSeconds(arguments.Number("seconds", 10)));
    });

    public void Dispose() => _run.Dispose();

    public void RunAll(int pairs, TimeSpan window)
    {
        _run.Cluster.Switch.Tampering = new Tampering(Liar, _lies.Change);
        // So that it asks for repairs, too.
        _run.Cluster.Switch[Neighbour, Liar] = new Impairment { LossPercent = 2 };
        StreamNodes.Ask(_publisher, $"flood wall 3 {PayloadBytes}", "published wall");
        foreach (var node in (NodeProcess[])[_publisher, _liar, _neighbour])
        {
            node.Feed(Beside + "\n");
        }

        Thread.Sleep(Settling);
        long[] heaps = [.. _readers.Append(_publisher).Select(Heap)];
        _publisher.Feed($"flood wall 86400 {PayloadBytes}\n");
        Thread.Sleep(window);
        List<double> ratios = [];
        for (int pair = 1; pair <= pairs; pair++)
        {
            // Which of both comes first alternates, so that what grows or shrinks over time does not count for one of them.
            bool isFirst = pair % 2 == 0;
            double one = Measure(window, isFirst);
            double other = Measure(window, !isFirst);
            ratios.Add(isFirst ? one / other : other / one);
            _log.Say(string.Create(CultureInfo.InvariantCulture, $"pair {pair}: {100 * ratios[^1]:0.0} % of the throughput without lies"));
        }

        double median = ratios.Order().ElementAt(ratios.Count / 2);
        _log.HoldInTime(
            median >= LeastThroughput,
            string.Create(CultureInfo.InvariantCulture, $"throughput beside a liar, median of {pairs} pairs: {100 * median:0.0} %"));
        _log.Hold(_lies.Count > 0, $"it lied: {_lies.Kinds}");
        _lies.IsOn = false;
        End(heaps);
    }

    private double Measure(TimeSpan window, bool hasLies)
    {
        _lies.IsOn = hasLies;
        long lies = _lies.Count;
        long before = _readers.Sum(Taken);
        long start = Stopwatch.GetTimestamp();
        Thread.Sleep(window);
        double rate = (_readers.Sum(Taken) - before) / _readers.Count / Stopwatch.GetElapsedTime(start).TotalSeconds;
        _log.Say(string.Create(
            CultureInfo.InvariantCulture, $"  {(hasLies ? "lies" : "truth")} {rate:0} messages/s, {_lies.Count - lies} lies"));
        return rate;
    }

    private void End(long[] heaps)
    {
        string published = StreamNodes.Ask(_publisher, "halt", "published wall");
        long sent = StreamNodes.LastNumber(published);
        foreach (var reader in _readers)
        {
            string got = StreamNodes.Ask(reader, $"expect wall 1 {sent}", "has wall");
            _log.Hold(got == $"has wall {sent} 0" && Taken(reader) == sent, $"a reader has the {sent} messages and no other");
        }

        long[] after = [.. _readers.Append(_publisher).Select(Heap)];
        _log.Hold(
            heaps.Zip(after).All(pair => pair.Second - pair.First <= MostHeapGrowth),
            $"heaps are flat: {string.Join(", ", heaps.Zip(after).Select(pair => $"{pair.First >> 10} then {pair.Second >> 10} KiB"))}");
        _log.Say($"beside: the liar has {Taken(_liar, "beside")} messages, its neighbour {Taken(_neighbour, "beside")}");
        // A topic in which a member lies may lose what that member sends. What others send comes once and in order there, too.
        _log.Hold(!_neighbour.HasExited, "the neighbour of the liar lives");
        _log.Hold(!_run.Cluster.ServiceProcess.HasExited, "the service lives");
        _liar.Send(ProcessSignal.Kill);
        _run.EndAndExpectNothingWrong();
    }

    private static long Heap(NodeProcess node) => StreamNodes.LastNumber(StreamNodes.Ask(node, "heap", "heap"));

    private static long Taken(NodeProcess node) => Taken(node, "wall");

    private static long Taken(NodeProcess node, string topic) =>
        StreamNodes.LastNumber(StreamNodes.Ask(node, $"taken {topic}", $"taken {topic}"));
}
