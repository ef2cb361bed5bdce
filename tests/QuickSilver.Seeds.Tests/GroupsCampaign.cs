using System.Globalization;
using QuickSilver.Seeds.Tests.Groups;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests;

// Campaign "Groups": three to seven nodes are in a group and send messages in all orders, while links lose, delay and repeat packets, and
// nodes pause, fail, come back, and are divided. Then some of them fail or leave within bursts of messages, and within the view changes
// that follow. All members get the same views, the same messages between them (I6), and one order of them; what one member got of safe
// messages is got by all that stay; no causal message comes before what its sender had got; and what is sent comes without another view.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.GroupsCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT groups
public sealed class GroupsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 8;

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Members_get_the_same_messages_of_each_view_in_their_orders(ulong seed) => output.WriteLine(new GroupRun(seed).Check());

    [Theory]
    // A causal message came before the last messages of a member that had left.
    [InlineData(103)]
    // The leader of the ring had failed, and until it was removed no token came. Then a member took the silence for an empty view.
    [InlineData(149)]
    [InlineData(1301)]
    // Tokens had no room for the records of all senders on a narrow path, and always had those of the same ones.
    [InlineData(658)]
    public void Seeds_that_once_failed_hold(ulong seed) => output.WriteLine(new GroupRun(seed).Check());

    [Fact]
    public void One_seed_is_one_run() => Assert.Equal(new GroupRun(3).Check(), new GroupRun(3).Check());

    /// <summary>The number of failed seeds is written, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, bool endsWithFirst) =>
        RunMany(first, count, endsWithFirst, static seed => new GroupRun(seed).Check());

    public static int RunMany(ulong first, ulong count, bool endsWithFirst, Func<ulong, string> check)
    {
        int failed = 0;
        for (ulong seed = first; seed < first + count && !(endsWithFirst && failed > 0); seed++)
        {
            try
            {
                Console.WriteLine(check(seed));
            }
            catch (SimulationException exception)
            {
                failed++;
                Console.WriteLine(exception.Message);
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Program.Found}{seed}"));
            }
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{failed} of {count} seeds from {first} on failed"));
        return failed > 0 ? 1 : 0;
    }
}
