using System.Diagnostics;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Campaigns;

// The membership service removes no live node, however short of time all processes are, and everything is delivered.
//   calm [minutes=30] [nodes=16] [loss=5] [publishers=4] [rate=100] [pausers=2] [busy=2] [logs=FOLDER]
//
// Every node subscribes, some publish at a steady rate, and everything is protected by a secret. The network loses frames of all kinds,
// busy processes compete for the processors, and nodes stand still at random: see RandomPauses.
internal sealed class CalmCampaign(CampaignLog log, CampaignArguments arguments)
{
    private const int PayloadBytes = 500;
    private const double LeastShare = 0.95;
    private readonly int _nodes = arguments.Number("nodes", 16);
    private readonly int _publishers = arguments.Number("publishers", 4);
    private readonly int _minutes = arguments.Number("minutes", 30);

    public static int Run(CampaignArguments arguments) => CampaignLog.Run("calm", log => new CalmCampaign(log, arguments).RunAll());

    public void RunAll()
    {
        using var secret = new SecretFile();
        using var run = new StreamNodes(new QsmCluster(_nodes, service: ["--verbose"], secretFileOf: _ => secret.Path));
        List<NodeProcess> nodes = [.. Enumerable.Range(1, _nodes).Select(host => run.Subscriber(host, "calm reliable handler"))];
        try
        {
            Run(run, nodes);
        }
        finally
        {
            if (arguments.Text("logs") is { } folder)
            {
                WriteLogs(Directory.CreateDirectory(folder).FullName, run, nodes);
            }
        }
    }

    private void Run(StreamNodes run, List<NodeProcess> nodes)
    {
        var publishers = nodes.Take(_publishers).ToList();
        publishers.ForEach(node => StreamNodes.Do(node, $"open calm reliable {_nodes}", "open calm"));
        log.Say($"{_nodes} nodes, {_publishers} of them publish, everybody subscribes");

        int loss = arguments.Number("loss", 5);
        run.Cluster.Switch.SetAll(new Impairment { LossPercent = loss });
        for (int i = 0; i < arguments.Number("busy", 2); i++)
        {
            run.Cluster.StartProgram("/bin/sh", 1, "-c", "while :; do :; done");
        }

        publishers.ForEach(node => node.Feed($"pace calm {(_minutes + 1) * 60} {PayloadBytes} {arguments.Number("rate", 100)}\n"));
        int told = 0;
        List<double> shares = [];
        using (var pauses = new RandomPauses(nodes, arguments.Number("pausers", 2), seed: 1))
        {
            var share = new ProcessorShare();
            for (int minute = 1; minute <= _minutes; minute++)
            {
                Thread.Sleep(TimeSpan.FromMinutes(1));
                shares.Add(share.Take());
                log.Say(string.Create(
                    CultureInfo.InvariantCulture,
                    $"minute {minute}: {run.Cluster.Removals.Length} removals, {nodes.Count(node => node.HasExited)} processes ended, "
                    + $"{pauses.Pauses} pauses, {pauses.Collections} collections, processors {100 * shares[^1]:0} % used, "
                    + $"{loss} % of frames lost"));
                foreach (string removal in run.Cluster.Removals.Skip(told))
                {
                    log.Say(removal);
                    told++;
                }
            }
        }

        double median = shares.Order().ElementAt(shares.Count / 2);
        log.Hold(
            median >= LeastShare,
            string.Create(CultureInfo.InvariantCulture, $"processors {100 * median:0} % used, the median of the minutes"));
        publishers.ForEach(node => node.Feed("halt\n"));
        long sent = publishers.Sum(static node => StreamNodes.LastNumber(StreamNodes.WaitFor(node, "published calm")));
        long asked = Stopwatch.GetTimestamp();
        nodes.ForEach(node => node.Feed($"expect calm {_publishers} {sent}\n"));
        foreach (var node in nodes)
        {
            string got = StreamNodes.WaitFor(node, "has calm");
            log.Hold(got == $"has calm {sent} 0", $"node {nodes.IndexOf(node) + 1} has all {sent} messages ({got})");
        }

        log.Say($"all delivered {Stopwatch.GetElapsedTime(asked).TotalSeconds:0.0} s after the last was published");
        int removals = run.Cluster.Removals.Length;
        log.Hold(removals == 0, $"no false removal ({removals})");
        run.EndAndExpectNothingWrong();
    }

    private static void WriteLogs(string folder, StreamNodes run, List<NodeProcess> nodes)
    {
        File.WriteAllLines(Path.Combine(folder, "service"), run.Cluster.ServiceProcess.Errors.Lines());
        for (int i = 0; i < nodes.Count; i++)
        {
            File.WriteAllLines(Path.Combine(folder, $"node-{i + 1}"), nodes[i].Errors.Lines());
        }
    }
}
