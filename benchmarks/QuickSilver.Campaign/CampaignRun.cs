using QuickSilver.Campaign.Contenders;
using QuickSilver.Campaign.Report;

namespace QuickSilver.Campaign;

// Round by round, and within a round load by load, every contender once: what the machine does meanwhile hits all alike.
internal sealed class CampaignRun(CampaignPlan plan)
{
    public int Run()
    {
        var contenders = Contenders();
        if (!contenders.OfType<OwnContender>().Single().TryPrepare(out string? missing))
        {
            Console.Error.WriteLine(missing);
            return 2;
        }

        var results = new Dictionary<(string Contender, Load Load), Series>();
        for (int round = 1; round <= plan.Rounds; round++)
        {
            foreach (var load in plan.Loads)
            {
                foreach (var contender in contenders)
                {
                    var run = contender.Run(load, plan.Seconds);
                    if (!results.TryGetValue((contender.Name, load), out var series))
                    {
                        results[(contender.Name, load)] = series = new Series();
                    }

                    series.Add(run);
                    Console.Error.WriteLine($"round {round}/{plan.Rounds}  {load,-12} {contender.Name,-12} {run}");
                }
            }
        }

        new PerformancePage(plan, contenders, results).Write();
        Console.Out.WriteLine($"written: {plan.Output.FullName}");
        var own = results.Where(entry => entry.Key.Contender == OwnContender.OwnName).Select(entry => entry.Value);
        return own.All(series => series.Lost == 0 && !series.Failures.Any()) ? 0 : 1;
    }

    private List<IContender> Contenders()
    {
        var contenders = new List<IContender> { new OwnContender(plan.Peers) };
        if (plan.Peers is { } peers)
        {
            (string Folder, string Mode)[] chosen = plan.IsQuick
                ? [("raw", "one"), ("ceiling", ""), ("nats", "")]
                : [("raw", "one"), ("raw", "gso"), ("ceiling", ""), ("nats", ""), ("aeron", ""), ("cyclonedds", ""), ("jgroups", "")];
            contenders.AddRange(chosen
                .Where(peer => File.Exists(Path.Combine(peers.FullName, peer.Folder, "run.sh")))
                .Select(peer => new PeerContender(peers, peer.Folder, peer.Mode)));
        }

        return contenders;
    }
}
