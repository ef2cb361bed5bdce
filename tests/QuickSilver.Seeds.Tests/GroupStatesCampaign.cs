using QuickSilver.Seeds.Tests.Groups;
using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests;

// Campaign "GroupStates": three to seven nodes are in a group with a state and send messages in all orders, while links lose, delay and
// repeat packets, and nodes pause, fail, come back, and are divided. Then some fail or leave within bursts of messages, and while others
// seek the state. Each life that joins gets the state of another member, and exactly what follows it (I16). After each burst all members
// have the same state, and it contains all that they have sent.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.GroupStatesCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT groupstates
public sealed class GroupStatesCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 8;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Members_that_join_get_the_state_and_what_follows_it(ulong seed) => output.WriteLine(new GroupStateRun(seed).Check());

    // A member did not get the last messages of one that had failed, because the tokens that reported them had no room.
    [Theory]
    [InlineData(214)]
    public void Seeds_that_once_failed_hold(ulong seed) => output.WriteLine(new GroupStateRun(seed).Check());

    [Fact]
    public void One_seed_is_one_run() => Assert.Equal(new GroupStateRun(3).Check(), new GroupStateRun(3).Check());

    /// <summary>The number of failed seeds is written, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, bool endsWithFirst) =>
        GroupsCampaign.RunMany(first, count, endsWithFirst, static seed => new GroupStateRun(seed).Check());
}
