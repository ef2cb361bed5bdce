using QuickSilver.Seeds.Tests.Groups;
using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests;

// Campaign "GroupTools": three to five nodes use the tools of groups while they fail and come back, and links lose or delay packets. A
// counter in a dictionary has each count once. One member holds the lock, with a higher fencing number each time, and one leads. Each job
// that was added is done.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.GroupToolsCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT grouptools
public sealed class GroupToolsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 6;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Tools_keep_their_promises_while_members_fail(ulong seed) => output.WriteLine(new GroupToolRun(seed).Check());

    [Fact]
    public void One_seed_is_one_run() => Assert.Equal(new GroupToolRun(3).Check(), new GroupToolRun(3).Check());

    /// <summary>The number of failed seeds is written, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, bool endsWithFirst) =>
        GroupsCampaign.RunMany(first, count, endsWithFirst, static seed => new GroupToolRun(seed).Check());
}
