using QuickSilver.Seeds.Tests.Infrastructure.Recording;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Checkers.Synchrony;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// A run of whole nodes under faults: overlapping topics, subscriptions that come and go, everybody publishing; then all is
// healed, and all must come to its end; then the same again in peace.
internal abstract partial class FaultyRun(string name, ITestOutputHelper? output) : Campaign(name, output)
{
    private const int BundlesPerNode = 2;
    private const int PublicationsPerNode = 3;
    private const int LastWords = 60;
    private const int MostUnhearing = 2;

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan FaultsBegin = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan FaultsEnd = TimeSpan.FromSeconds(6);
    private static readonly TimeSpan LongestUnheard = TimeSpan.FromMilliseconds(400);
    private static readonly TimeSpan OrderLimit = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan ChurnLength = TimeSpan.FromSeconds(4);

    protected abstract Scene SceneOf(ulong seed);

    protected override string Describe(ulong seed)
    {
        var scene = SceneOf(seed);
        return $"{scene}, and\n{Faults(scene, seed)}";
    }

    protected override RunResult Play(ulong seed, RecordTail tail)
    {
        var scene = SceneOf(seed);
        return scene.Standing is null ? PlayMixed(scene, seed, tail) : PlayStanding(scene, seed, tail);
    }

    private static RunResult PlayMixed(Scene scene, ulong seed, RecordTail tail)
    {
        var checkers = CampaignCheckers
            .All(scene.MayPart, scene.Cluster.IsEmbedded, scene.Cluster.IsBestEffort, rights: scene.Cluster.Rights)
            .Where(checker => checker is not RepairChecker || scene.Cluster.CountsLosses);
        using var cluster = new WholeCluster(seed, scene.Cluster, [.. checkers, .. Synchrony(scene), tail]) { MayPart = scene.MayPart };
        Open(cluster, scene);
        var load = new HardLoad(cluster, scene);
        load.ChooseSleepers();
        Faults(scene, seed).Start(cluster.Simulation);
        while (cluster.Simulation.Now < FaultsEnd)
        {
            Churn(cluster, scene);
            PublishSome(cluster);
            load.Publish();
            DieTalking(cluster, scene);
            DieUnheard(cluster, scene);
            cluster.Run(Tick);
            cluster.ReadMemory(quiet: false);
        }

        cluster.AreSubscribersOdd = false;
        cluster.AreReadersAsleep = false;
        cluster.AreHandlersBusy = false;
        End(cluster, "after the faults");
        load.ChurnTables(() => ChurnQuietly(cluster, scene));
        // The same again in peace: what a node keeps must not have grown.
        for (int i = 0; i < 50; i++)
        {
            PublishSome(cluster);
            cluster.Run(Tick);
        }

        End(cluster, "in peace");
        cluster.History.Count(cluster.CountRepairs());
        cluster.History.AssertHolds();
        return cluster.Result();
    }

    private static SynchronyChecker[] Synchrony(Scene scene) =>
        scene.Cluster.PinsTopics && !scene.MayPart ? [new SynchronyChecker(scene.Cluster.Options.Membership.Hosted.Replicas)] : [];

    // Neighbours share bundles of topics, so that regions have several members; single topics come and go.
    private static void Open(WholeCluster cluster, Scene scene)
    {
        int bundleTopics = scene.Topics / scene.Bundles;
        int nodes = cluster.Nodes.Count;
        for (int i = 0; i < nodes; i++)
        {
            for (int k = 0; k < BundlesPerNode; k++)
            {
                int bundle = ((i * scene.Bundles / nodes) + k) % scene.Bundles;
                for (int topic = 0; topic < bundleTopics; topic++)
                {
                    cluster.Nodes[i].Subscribe(scene.Topic((bundle * bundleTopics) + topic));
                }
            }

            if (cluster.Nodes[i].Subscriptions.Count == 0)
            {
                // It has the right to none of these.
                cluster.Nodes[i].Subscribe(scene.Topic(0));
            }

            for (int k = 0; k < PublicationsPerNode; k++)
            {
                PublishSomewhere(cluster.Nodes[i], scene, cluster.Random.Below(scene.Topics));
            }
        }
    }

    private static void End(WholeCluster cluster, string when) => RequireEnd(cluster, when, OrderLimit);

    // As many changes as in a run under faults, each undone: what is open then is what was open before. Some nodes begin again.
    private static void ChurnQuietly(WholeCluster cluster, Scene scene)
    {
        var wanted = cluster.Nodes.Select(node => (Node: node, S: node.Subscriptions.ToArray(), P: node.Publications.ToArray())).ToArray();
        for (var end = cluster.Simulation.Now + ChurnLength; cluster.Simulation.Now < end;)
        {
            Churn(cluster, scene);
            PublishSome(cluster);
            if (cluster.Random.Chance(0.1))
            {
                // Topics to which no node ever comes back.
                var node = cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count)];
                string passing = $"passing/{cluster.Random.Next():x}";
                node.Subscribe(passing);
                node.Publish(passing);
            }

            if (cluster.Random.Chance(0.01))
            {
                cluster.RestartSoon(cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count / 2)].Machine);
            }

            cluster.Run(Tick);
        }

        cluster.RequireOne(OrderLimit, TimeSpan.FromMilliseconds(100), "after churn");
        foreach (var (node, subscriptions, publications) in wanted)
        {
            Array.ForEach([.. node.Subscriptions.Except(subscriptions)], node.Unsubscribe);
            Array.ForEach([.. node.Publications.Except(publications)], node.StopPublishing);
            Array.ForEach(subscriptions, node.Subscribe);
            Array.ForEach(publications, node.Publish);
        }

        End(cluster, "after churn");
    }

    // About ten changes of subscriptions a second, and one of publications.
    private static void Churn(WholeCluster cluster, Scene scene, WholeNode? except = null)
    {
        if (cluster.Random.Chance(0.1))
        {
            var node = cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count)];
            string topic = scene.Topic(cluster.Random.Below(scene.Topics));
            if (node == except)
            {
                return;
            }

            node.Toggle(topic);
        }

        if (cluster.Random.Chance(0.01))
        {
            var node = cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count)];
            string topic = node.Publications.First();
            node.StopPublishing(topic);
            if (cluster.Random.Chance(0.5))
            {
                node.Publish(topic);
            }
            else
            {
                PublishSomewhere(node, scene, cluster.Random.Below(scene.Topics));
            }
        }
    }

    // In this topic, or in the next one that the node has the right to.
    private static void PublishSomewhere(WholeNode node, Scene scene, int topic)
    {
        node.Publish(scene.Topic(topic));
        while (!node.MayPublish(scene.Topic(topic)))
        {
            node.Publish(scene.Topic(++topic));
        }
    }

    private static void PublishSome(WholeCluster cluster)
    {
        foreach (var node in cluster.Nodes)
        {
            foreach (string topic in node.Publications)
            {
                if (cluster.Random.Chance(0.15))
                {
                    cluster.Publish(node, topic, SizeOf(cluster));
                }
            }
        }
    }

    private static int SizeOf(WholeCluster cluster) =>
        cluster.Random.Chance(0.05) ? 1400 + cluster.Random.Below(6000) : 16 + cluster.Random.Below(200);

    // What a node sent last, some have and some have not: the remaining nodes must come to one end with it.
    private static void DieTalking(WholeCluster cluster, Scene scene)
    {
        if (!scene.DieTalking || cluster.Simulation.Now < FaultsBegin || !cluster.Random.Chance(0.01))
        {
            return;
        }

        var node = cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count)];
        SpeakLast(cluster, node);
        cluster.RestartSoon(node.Machine, cluster.Random.UpTo(Tick));
    }

    // What a node says last is too large for the way to some, by new data or by repair (F11), while tokens pass: so the rest keep of it
    // what they are to keep. Then it dies (F4), and only later the way is whole again.
    private static void DieUnheard(WholeCluster cluster, Scene scene)
    {
        var now = cluster.Simulation.Now;
        if (!scene.DieUnheard || now < FaultsBegin || now > FaultsEnd - LongestUnheard || !cluster.Random.Chance(0.01))
        {
            return;
        }

        var node = cluster.Nodes[cluster.Random.Below(cluster.Nodes.Count)];
        string topic = node.Publications.First();
        var others = cluster.Nodes.Where(other => other != node && other.Subscriptions.Contains(topic)).ToList();
        if (others.Count == 0)
        {
            return;
        }

        int packet = scene.Cluster.Options.PacketBytes;
        int largest = packet - 1 - cluster.Random.Below(packet / 2);
        var dies = cluster.Random.Between(Tick, LongestUnheard / 2);
        var heals = dies + cluster.Random.UpTo(LongestUnheard / 2);
        for (int i = cluster.Random.Below(MostUnhearing); i >= 0; i--)
        {
            var faults = others[cluster.Random.Below(others.Count)].Machine.Faults;
            faults.InboundLargestBytes = largest;
            cluster.Simulation.After(heals, () => faults.InboundLargestBytes = null);
        }

        SpeakLast(cluster, node);
        cluster.RestartSoon(node.Machine, dies);
    }

    private static void SpeakLast(WholeCluster cluster, WholeNode node)
    {
        string topic = node.Publications.First();
        for (int i = 0; i < LastWords; i++)
        {
            cluster.Publish(node, topic, 16 + cluster.Random.Below(1400));
        }
    }

    private static FaultSchedule Faults(Scene scene, ulong seed)
    {
        // A service of its own has the first machine.
        int first = scene.Cluster.IsEmbedded ? 0 : 1;
        int[] members = [.. Enumerable.Range(first, scene.Cluster.Nodes)];
        var plan = new FaultPlan
        {
            Kinds = scene.Kinds,
            Nodes = members,
            Crashable = members,
            From = FaultsBegin,
            Until = FaultsEnd,
            BridgeShare = scene.BridgeShare,
        };
        return HardCourses.Add(FaultSchedule.Draw(plan, seed, scene.Cluster.Nodes), scene, plan, seed);
    }
}
