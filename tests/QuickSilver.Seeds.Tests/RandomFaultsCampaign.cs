using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.Infrastructure.Courses;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests;

// Campaign "RandomFaults": 20 whole nodes, 40 overlapping topics, subscriptions that come and go, and F1, F2, F3 (heals),
// F4 (members), F6 and F13. I1 to I4, I7 to I11 and I17 to I20 hold.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.RandomFaultsCampaign"
//   QS_SEEDS=1 QS_FIRST_SEED=<seed> (the same); QS_RECORDS=<file> writes all records of the run and its logs
// Every fourth seed is run with embedded membership, whose host crashes and is cut off like any node: clusters part and merge.
// QS_EMBEDDED=1 runs all seeds so, QS_EMBEDDED=0 none.
public sealed class RandomFaultsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 8;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Invariants_hold_under_faults_and_churn(ulong seed) => new Run(output, IsEmbedded(seed)).Check(seed);

    [Theory]
    // A topic closed and opened again to publish began at number 1: its subscribers took what followed for repeats.
    [InlineData(3)]
    // Small packets of views that never became known pinned a block of packet memory each, and stayed young forever.
    [InlineData(4)]
    // The flush was posted while it was posted.
    [InlineData(56)]
    [InlineData(145)]
    // Acknowledgements for a sender's earlier life at the same address let go what the new life had not yet sent.
    [InlineData(37)]
    [InlineData(112)]
    // A member that heard late of a removal brought more of the gone sender after the ring had announced that nothing more comes.
    [InlineData(128)]
    [InlineData(142)]
    // A member closed an old view, all settled, while another still lacked packets of a sender that was gone.
    [InlineData(132)]
    [InlineData(162)]
    // A subscription closed and opened again while the service was out of reach began in the middle of its old view.
    [InlineData(40)]
    // A ring's leader stopped announcing what is stable before the others had heard it, and the ring turned at full speed.
    [InlineData(188)]
    // A token for a member's earlier life came to its next one, which is the leader: a round that had passed no member counted.
    [InlineData(209)]
    // A sender that others knew of first looked gone to a member, and stayed so: what was on its way was reported as a gap.
    [InlineData(1437)]
    // A topic opened between a node's registration with the service and its welcome was never asked for.
    [InlineData(910005)]
    // The first message of a newer view came before any of an older one that was still in use, with a table that no longer said
    // where the topic had begun there.
    [InlineData(1600053)]
    // Loss was reported once the oldest view had come to its end, although in those between something was still on its way.
    [InlineData(2907730281)]
    public void Seeds_that_once_failed_hold(ulong seed) => new Run(output, isEmbedded: false).CheckPinned(seed);

    [Theory]
    // A message of before the service moved was held forever, with the views it was sent in, and nothing was settled any more:
    // its sender had been admitted again, together with its receiver.
    [InlineData(54)]
    [InlineData(9)]
    [InlineData(28)]
    [InlineData(38)]
    [InlineData(46)]
    [InlineData(51)]
    // Two nodes did not judge each other alike after a host had fallen while it sent a change: one waited for the other, in an
    // old view that the other had given up or never saw, forever.
    [InlineData(15)]
    // A node that returned sent again in a view in which it had sent before it went: from 1 again, and given up there. And
    // its run had been forgotten with it, so that what it had sent elsewhere was missed in silence.
    [InlineData(1106208027)]
    public void Embedded_seeds_that_once_failed_hold(ulong seed) => new Run(output, isEmbedded: true).CheckPinned(seed);

    private static bool IsEmbedded(ulong seed) => Environment.GetEnvironmentVariable("QS_EMBEDDED") switch
    {
        "1" => true,
        "0" => false,
        _ => seed % 4 == 3,
    };

    private sealed class Run(ITestOutputHelper output, bool isEmbedded) : FaultyRun("RandomFaults", output)
    {
        protected override string SettingsOf(ulong seed) => isEmbedded ? "QS_EMBEDDED=1" : "QS_EMBEDDED=0";

        protected override Scene SceneOf(ulong seed) => new()
        {
            Kinds = FaultKinds.Common,
            Cluster = new ClusterSetup
            {
                Nodes = 20,
                IsEmbedded = isEmbedded,
                // In one of three runs a pause or a partition can outlast the failure detector; in most, rings stand in a hierarchy
                // and members keep but a part.
                Options = new QuickSilverOptions
                {
                    Membership =
                    {
                        Hosted =
                        {
                            HeartbeatInterval = TimeSpan.FromMilliseconds(seed % 3 == 0 ? 100 : 400),
                            Replicas = WholeCluster.Replicas(seed),
                        },
                    },
                    RingSize = WholeCluster.RingSize(seed),
                },
            },
        };
    }
}
