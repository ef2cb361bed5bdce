using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// An attacker on the network without a key does no harm.
//   outsider [pairs=5] [seconds=10] [rate=2000] [certificates]
//
// Four hosts: the service and a publisher at full speed, two readers, and the outsider, which has a cluster of the same name with a secret
// of its own, or with certificates of an authority of its own. First each kind of forged packet alone, while no node publishes, to see what
// counts it; then all of them at full speed, in turn with the same packets to a group that no host has joined, as the outsider and the
// switch share the processors of the nodes; then connections to the service, and discovery.
internal sealed class OutsiderCampaign : IDisposable
{
    private const int Host = 4;
    private const int PayloadBytes = 1000;
    private const double LeastCounted = 0.95;
    private const double LeastThroughput = 0.95;
    private const long MostHeapGrowth = 4 << 20;
    private static readonly TimeSpan Kept = TimeSpan.FromSeconds(8);
    private static readonly ForgeryKind[] Kinds = Enum.GetValues<ForgeryKind>();
    private readonly CampaignLog _log;
    private readonly ClusterKeys _keys;
    private readonly ClusterKeys _otherKeys;
    private readonly StreamNodes _run;
    private readonly OutsiderCluster _other;
    private readonly QsmNetwork _network;
    private readonly NodeProcess _publisher;
    private readonly List<NodeProcess> _readers;
    private readonly Recordings _recordings;
    private readonly int _rate;

    public OutsiderCampaign(CampaignLog log, int rate, bool hasCertificates)
    {
        _keys = new ClusterKeys("cluster", hasCertificates);
        _otherKeys = new ClusterKeys("outsider", hasCertificates);
        _log = log;
        _rate = rate;
        _run = new StreamNodes(new QsmCluster(
            Host, secretFileOf: _keys.SecretFile is { } file ? _ => file : null, certificate: _keys.Certificate));
        _network = new QsmNetwork(_run.Cluster.Network, _run.Cluster.Switch, Host);
        _other = new OutsiderCluster(_network, _keys, _otherKeys, _run.Cluster.Service);
        _publisher = _run.Node(1);
        _readers = [_run.Subscriber(2, "wall reliable handler"), _run.Subscriber(3, "wall reliable handler")];
        StreamNodes.Do(_publisher, "open wall reliable 2", "open wall");
        _recordings = new Recordings(_network);
    }

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("outsider", log =>
    {
        using var campaign = new OutsiderCampaign(log, arguments.Number("rate", 2000), arguments.Has("certificates"));
        campaign.RunAll(arguments.Number("pairs", 5), TimeSpan.FromSeconds(arguments.Number("seconds", 10)));
    });

    public void Dispose()
    {
        _other.Dispose();
        _run.Dispose();
        _keys.Dispose();
        _otherKeys.Dispose();
    }

    public void RunAll(int pairs, TimeSpan window)
    {
        StreamNodes.Ask(_publisher, $"pace wall 2 {PayloadBytes} 5000", "published wall");
        Record($"pace wall 2 {PayloadBytes} 5000");
        using var attack = new Attack(_network, _recordings);
        long[] heaps = [.. _readers.Append(_publisher).Select(Heap)];
        foreach (var kind in Kinds)
        {
            CountOne(attack, kind);
        }

        AtFullSpeed(attack, pairs, window);
        NothingAnswers(attack);
        _other.AttackService(_log);
        _other.Deceive(_log);
        ExpectAll();
        long[] after = [.. _readers.Append(_publisher).Select(Heap)];
        _log.Hold(
            heaps.Zip(after).All(pair => pair.Second - pair.First <= MostHeapGrowth),
            $"heaps are flat: {string.Join(", ", heaps.Zip(after).Select(pair => $"{pair.First >> 10} then {pair.Second >> 10} KiB"))}");
        _run.EndAndExpectNothingWrong();
    }

    // While both clusters send, so that there is something of both.
    private void Record(string traffic)
    {
        _publisher.Feed(traffic + "\n");
        long start = Stopwatch.GetTimestamp();
        do
        {
            _other.Publish(50);
            _recordings.Take();
        }
        while ((_recordings.Own.Length == 0 || _recordings.Theirs.Length == 0) && Stopwatch.GetElapsedTime(start) < NodeProcess.Patience);

        _other.Publish(50);
        _recordings.Take();
        Thread.Sleep(TimeSpan.FromSeconds(2));
        string kinds = string.Join(", ", _recordings.Theirs.Select(sample => sample.Payload[1]).Distinct().Order());
        _log.Say($"recorded {_recordings.Theirs.Length} packets of kinds {kinds} and {_recordings.Own.Length} of the outsider's cluster; "
            + $"data go to {_recordings.Group}");
    }

    // What may belong to a view that is not known yet is kept for five seconds, and counted then.
    private void CountOne(Attack attack, ForgeryKind kind)
    {
        var before = _readers.ConvertAll(StreamNodes.Drops);
        long sent = attack.SentToGroup;
        attack.Run(TimeSpan.FromSeconds(1), _rate, kind);
        sent = attack.SentToGroup - sent;
        for (int i = 0; i < _readers.Count; i++)
        {
            long start = Stopwatch.GetTimestamp();
            Dictionary<string, long> drops;
            do
            {
                Thread.Sleep(300);
                drops = StreamNodes.Drops(_readers[i])
                    .ToDictionary(one => one.Key, one => one.Value - before[i].GetValueOrDefault(one.Key));
            }
            while (drops.Values.Sum() < LeastCounted * sent && Stopwatch.GetElapsedTime(start) < Kept);
            string reasons = string.Join(", ", drops.Where(one => one.Value > 0).Select(one => $"{one.Key} {one.Value}"));
            _log.Hold(
                drops.Values.Sum() >= LeastCounted * sent,
                $"{kind}: {sent} to the group, reader {i + 1} counted {drops.Values.Sum()}: {reasons}");
        }
    }

    private void AtFullSpeed(Attack attack, int pairs, TimeSpan window)
    {
        _publisher.Feed($"flood wall 86400 {PayloadBytes}\n");
        Thread.Sleep(window);
        var share = new ProcessorShare();
        List<double> ratios = [];
        for (int pair = 1; pair <= pairs; pair++)
        {
            // Which of both comes first alternates, so that what grows or shrinks over time does not count for one of them.
            bool isFirst = pair % 2 == 0;
            double one = Measure(attack, window, isFirst, share);
            double other = Measure(attack, window, !isFirst, share);
            ratios.Add(isFirst ? one / other : other / one);
            _log.Say(string.Create(
                CultureInfo.InvariantCulture, $"pair {pair}: {100 * ratios[^1]:0.0} % of the throughput while they go aside"));
        }

        double median = ratios.Order().ElementAt(ratios.Count / 2);
        _log.HoldInTime(
            median >= LeastThroughput,
            string.Create(CultureInfo.InvariantCulture, $"throughput under attack, median of {pairs} pairs: {100 * median:0.0} %"));
        StreamNodes.Ask(_publisher, "halt", "published wall");
    }

    private double Measure(Attack attack, TimeSpan window, bool isAttacked, ProcessorShare share)
    {
        _recordings.Take();
        _ = share.Take();
        long before = _readers.Sum(Taken);
        long start = Stopwatch.GetTimestamp();
        long sent = attack.Sent;
        attack.IsAside = !isAttacked;
        attack.Run(window, _rate, Kinds);
        double rate = (_readers.Sum(Taken) - before) / _readers.Count / Stopwatch.GetElapsedTime(start).TotalSeconds;
        _log.Say(string.Create(
            CultureInfo.InvariantCulture,
            $"  {(isAttacked ? "attacked" : "aside   ")} {rate:0} messages/s, {attack.Sent - sent} forged packets, "
            + $"processors {100 * share.Take():0} % used"));
        return rate;
    }

    // Half of the packets have the outsider's own address, so that an answer to any kind would come to it.
    private void NothingAnswers(Attack attack)
    {
        long bytes = Enumerable.Range(1, Host - 1).Sum(node => _network.Switch.Counters(node, Host).UnicastBytes);
        _log.Hold(bytes == 0, $"{bytes} bytes of datagrams came to the outsider for {attack.Sent} forged packets");
    }

    private void ExpectAll()
    {
        long sent = long.Parse(_publisher.Output.FindLastLine("published wall")!.Split(' ')[^1], CultureInfo.InvariantCulture);
        foreach (var reader in _readers)
        {
            string got = StreamNodes.Ask(reader, $"expect wall 1 {sent}", "has wall");
            _log.Hold(got == $"has wall {sent} 0" && Taken(reader) == sent, $"a reader has the {sent} messages and no other");
        }
    }

    private static long Heap(NodeProcess node) => Last(StreamNodes.Ask(node, "heap", "heap"));

    private static long Taken(NodeProcess node) => Last(StreamNodes.Ask(node, "taken wall", "taken wall"));

    private static long Last(string line) => long.Parse(line.Split(' ')[^1], CultureInfo.InvariantCulture);
}
