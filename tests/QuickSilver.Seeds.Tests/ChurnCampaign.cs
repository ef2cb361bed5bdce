using System.Globalization;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.Infrastructure.Recording;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests;

// Campaign "Churn": a publisher sends to 20 topics at 5,000 messages a second, while 8 nodes that each keep some of them
// subscribe to and leave other topics at random, 10 changes a second, and so change regions all the time. Every endpoint
// that stays open receives every message of its topic once and in order: I1 to I4, I7 to I10, I17 to I20.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.ChurnCampaign"
//   QS_SEEDS=1 QS_FIRST_SEED=<seed> (the same); QS_RECORDS=<file> writes all records of the run and its logs
// Longer runs:  QS_CHURN_SECONDS=30 (virtual seconds; 4 where nothing is said)
public sealed class ChurnCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 16;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Endpoints_that_stay_open_get_everything_once_and_in_order(ulong seed) => new Run(output).Check(seed);

    // Two nodes hosted a service at the start and became one cluster: configurations of the one, equal in number to those of
    // the other, made subscribers wait for messages that were published before the publisher came.
    [Theory]
    [InlineData(23)]
    [InlineData(187)]
    public void Seeds_that_once_failed_hold(ulong seed) => new Run(output).Check(seed);

    private sealed class Run(ITestOutputHelper output) : Campaign("Churn", output)
    {
        private const int Subscribers = 8;
        private const int TopicCount = 20;
        private const int MessagesPerSecond = 5000;
        private const int KeptPerNode = 4;
        private const double ChangesPerSecond = 10;

        private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(2);
        private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(100);
        private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

        private static double Seconds =>
            double.TryParse(
                Environment.GetEnvironmentVariable("QS_CHURN_SECONDS"), CultureInfo.InvariantCulture, out double seconds)
                ? seconds
                : 4;

        protected override string Describe(ulong seed) =>
            $"{WholeCluster.MembershipOf(IsEmbedded(seed))}, {Loss(seed):P1} of all datagrams lost, {Seconds} s";

        protected override RunResult Play(ulong seed, RecordTail tail)
        {
            HistoryChecker[] checkers = [.. CampaignCheckers.All(hostsMayPart: IsEmbedded(seed)), tail];
            var options = new QuickSilverOptions
            {
                Membership = { Hosted = { Replicas = WholeCluster.Replicas(seed) } },
                RingSize = WholeCluster.RingSize(seed),
            };
            var setup = new ClusterSetup { Nodes = 1 + Subscribers, IsEmbedded = IsEmbedded(seed), Options = options };
            using var cluster = new WholeCluster(seed, setup, checkers);
            var publisher = cluster.Nodes[0];
            var subscribers = cluster.Nodes.Skip(1).ToArray();
            var kept = subscribers.Select(_ => new HashSet<string>()).ToArray();
            for (int i = 0; i < TopicCount; i++)
            {
                publisher.Publish(Topic(i));
            }

            for (int i = 0; i < Subscribers; i++)
            {
                // Two by two they keep the same.
                for (int k = 0; k < KeptPerNode; k++)
                {
                    kept[i].Add(Topic((i / 2 * 3) + k));
                    subscribers[i].Subscribe(Topic((i / 2 * 3) + k));
                }
            }

            cluster.RequireOne(Limit, Step, "at the start");
            cluster.Simulation.Network.Model = cluster.Simulation.Network.Model with { Loss = Loss(seed) };
            Play(cluster, publisher, subscribers, kept);
            cluster.Simulation.Network.Heal();
            RequireEnd(cluster, "after the churn", Limit);
            cluster.History.Count(cluster.CountRepairs());
            cluster.History.AssertHolds();
            cluster.Require(cluster.Nodes.All(node => node.Lives.Count == 1), "no node was removed from a healthy cluster");
            cluster.Require(cluster.History.GapCount == 0, "no subscriber got a gap");
            return cluster.Result();
        }

        private static void Play(WholeCluster cluster, WholeNode publisher, WholeNode[] subscribers, HashSet<string>[] kept)
        {
            var end = cluster.Simulation.Now + TimeSpan.FromSeconds(Seconds);
            int perTick = (int)(MessagesPerSecond * Tick.TotalSeconds);
            int topic = 0;
            while (cluster.Simulation.Now < end)
            {
                for (int i = 0; i < perTick; i++)
                {
                    topic = (topic + 1) % TopicCount;
                    cluster.Publish(publisher, Topic(topic), 16 + cluster.Random.Below(100));
                }

                if (cluster.Random.Chance(ChangesPerSecond * Tick.TotalSeconds))
                {
                    int who = cluster.Random.Below(Subscribers);
                    string other = Topic(cluster.Random.Below(TopicCount));
                    if (!kept[who].Contains(other))
                    {
                        subscribers[who].Toggle(other);
                    }
                }

                cluster.Run(Tick);
            }
        }

        // Half of the seeds on a perfect network, half on one that loses a little.
        private static double Loss(ulong seed) => seed % 2 == 0 ? 0 : 0.005 * (1 + (seed / 2 % 4));

        private static bool IsEmbedded(ulong seed) => seed % 4 >= 2;

        private static string Topic(int number) => $"topic/{number % TopicCount}";
    }
}
