using QuickSilver.Membership.Views;
using QuickSilver.Seeds.Tests.Infrastructure.Recording;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// The run in which one fault stands: all are in one cluster, then one node has a fault for longer than it takes to find it out, and the
// others publish, come and go meanwhile. What they owe each other has a bound (I22), what shares no view with the fault a short one (I24),
// and none of them is removed (I23). Then all is healed, and must come to its end as after any faults.
internal abstract partial class FaultyRun
{
    private const double StandingPublishShare = 0.03;
    private const double LongStandingShare = 0.1;
    private const int LooksPerSecond = 4;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan IsolationBound = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan ReadyBound = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan LongStanding = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LongestStanding = TimeSpan.FromSeconds(12);
    private static readonly TimeSpan LongLongestStanding = TimeSpan.FromSeconds(120);

    // As long as a removal by missed heartbeats may take, and then what a changed view takes to settle.
    private static TimeSpan ProgressBound(Scene scene)
    {
        var hosted = scene.Cluster.Options.Membership.Hosted;
        return (hosted.HeartbeatInterval * (hosted.MissedHeartbeatLimit + 2)) + (Second * 5);
    }

    private static RunResult PlayStanding(Scene scene, ulong seed, RecordTail tail)
    {
        var fault = scene.Standing!.Value;
        var random = SeededRandom.Derive(seed, purpose: 28, owner: 0);
        var bound = ProgressBound(scene);
        HistoryChecker[] checkers =
        [
            .. CampaignCheckers
                .All(scene.MayPart, scene.Cluster.IsEmbedded, scene.Cluster.IsBestEffort, scene.Cluster.Options.StallWarning)
                .Where(checker => checker is not RepairChecker || StandingFaults.CountsLosses(fault)),
            new ProgressChecker(bound) { IsBestEffort = scene.Cluster.IsBestEffort },
            // In a long night the service changes and a program starts: what is sent in a new view waits for the end of the one before,
            // in which the victim was.
            .. StandingFaults.IsLong(fault)
                ? []
                : new[] { new IsolationChecker(IsolationBound) { IsBestEffort = scene.Cluster.IsBestEffort } },
            new MajorityChecker(scene.Cluster.Nodes),
            tail,
        ];
        using var cluster = new WholeCluster(seed, scene.Cluster, checkers) { MayPart = scene.MayPart };
        Open(cluster, scene);
        var victim = cluster.Nodes[random.Below(cluster.Nodes.Count)];
        string topic = victim.Subscriptions.ElementAt(random.Below(victim.Subscriptions.Count));
        cluster.Sleepers.UnionWith(fault == StandingFault.SleepingReader ? [(victim.Machine.Number, topic)] : []);
        cluster.RequireOne(OrderLimit, Second / 10, "before the fault");
        PublishFor(cluster, scene, Second, isChurned: false);
        if (StandingFaults.IsOfHost(fault))
        {
            victim = cluster.Nodes.First(node => node.Machine.Environment.Endpoints.IsListening);
        }

        bool isOneTopic = fault == StandingFault.SleepingReader;
        cluster.History.Troubled(cluster.Simulation.Now, victim.Machine.Number, isOneTopic ? TopicId.Of(topic) : 0);
        StandingFaults.Begin(cluster, fault, victim.Machine, random);
        var most = random.Chance(LongStandingShare) ? LongLongestStanding : LongestStanding;
        if (StandingFaults.IsLong(fault))
        {
            EndureLong(cluster, scene, fault, victim, random);
        }
        else
        {
            PublishFor(cluster, scene, bound + random.UpTo(most), isChurned: random.Chance(0.5), victim);
        }

        cluster.AreReadersAsleep = false;
        cluster.AreHandlersBusy = false;
        cluster.Simulation.Heal();
        if (StandingFaults.EndsLife(fault))
        {
            cluster.RestartSoon(victim.Machine);
            cluster.Run(Second);
        }

        End(cluster, $"after {fault}");
        cluster.History.Count(cluster.CountRepairs());
        cluster.History.AssertHolds();
        return cluster.Result();
    }

    // The others are ready again within 15 s, and so is a program that starts meanwhile; then they continue for the rest of a minute.
    private static void EndureLong(WholeCluster cluster, Scene scene, StandingFault fault, WholeNode victim, SeededRandom random)
    {
        bool isChurned = random.Chance(0.5);
        var starts = cluster.Nodes[(cluster.Nodes.ToList().IndexOf(victim) + 1) % cluster.Nodes.Count];
        var before = random.UpTo(Second * 2);
        PublishFor(cluster, scene, before, isChurned, victim);
        starts.LeaveAndReturn();
        PublishFor(cluster, scene, ReadyBound - before, isChurned, victim);
        int known = cluster.Nodes.Count - (StandingFaults.IsMended(fault) ? 0 : 1);
        foreach (var node in cluster.Nodes)
        {
            if (node == victim && !StandingFaults.IsMended(fault))
            {
                continue;
            }

            // A node without a stream is still a member where it is known otherwise that it lives.
            bool isReady = node.IsJoined && node.Current.Known >= known;
            cluster.Require(isReady, $"{node.Machine} is ready again {ReadyBound.TotalSeconds} s after {fault} began");
        }

        PublishFor(cluster, scene, LongStanding - ReadyBound, isChurned, victim);
    }

    private static void PublishFor(WholeCluster cluster, Scene scene, TimeSpan duration, bool isChurned, WholeNode? except = null)
    {
        var end = cluster.Simulation.Now + duration;
        int ticks = 0;
        int ticksPerLook = (int)(Second / Tick) / LooksPerSecond;
        while (cluster.Simulation.Now < end)
        {
            foreach (var node in cluster.Nodes)
            {
                foreach (string topic in node.Publications.ToArray())
                {
                    if (cluster.Random.Chance(StandingPublishShare))
                    {
                        cluster.Publish(node, topic, SizeOf(cluster));
                    }
                }
            }

            if (isChurned)
            {
                Churn(cluster, scene, except);
            }

            cluster.Run(Tick);
            if (++ticks % ticksPerLook == 0)
            {
                RequireHolds(cluster);
            }
        }
    }
}
