using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests;

// Campaign "PinnedTopics": the clusters and faults of MixedFaults, where every reliable topic owns its region and delivers its views
// between its messages. What MixedFaults asks for holds, and I6.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.PinnedTopicsCampaign"
//   QS_SEEDS=1 QS_FIRST_SEED=<seed> (the same); QS_RECORDS=<file> writes all records of the run and its logs
public sealed class PinnedTopicsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 4;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Members_that_go_from_view_to_view_together_deliver_the_same(ulong seed) =>
        new MixedFaults(output, pinsTopics: true).Check(seed);

    [Theory]
    // A node without memory for packets of best effort noted that they had been sent, and its streams were open ever after.
    [InlineData(2372167908, "LittleMemory, BestEffort, BusyHandlers, NoMulticast, Sealed")]
    public void Seeds_that_once_failed_hold(ulong seed, string hardships) =>
        new MixedFaults(output, Enum.Parse<Hardships>(hardships), pinsTopics: true).Check(seed);
}
