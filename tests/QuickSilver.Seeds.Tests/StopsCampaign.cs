using System.Globalization;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.Stops;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests;

// Campaign "Stops": publishers that publish as fast as they may, to consumers, readers and handlers of which some are slow. Each of them
// ends at a random time in a random way: drain, stop, dispose, cancel, or with its node. Nodes do not fail. What was accepted is handled or
// reported, exactly: I25.
//
// Many seeds, and one again:
//   QS_SEEDS=200 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.StopsCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT stops
public sealed class StopsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 6;

    // In each of these, a subscriber that ends at once has messages below it that only its node reports.
    private static readonly ulong[] Kept = [14, 29, 38, 55, 71, 2881534109];

    public static TheoryData<ulong> Chosen => [.. SeedChoice.Of(FewestSeeds).Union(Kept)];

    [Theory]
    [MemberData(nameof(Chosen))]
    public void Accepted_messages_are_handled_or_reported(ulong seed) => output.WriteLine(new StopRun(seed).Check());

    [Fact]
    public void One_seed_is_one_run() => Assert.Equal(new StopRun(1).Check(), new StopRun(1).Check());

    /// <summary>The number of failed seeds is written, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, bool endsWithFirst)
    {
        int failed = 0;
        for (ulong seed = first; seed < first + count && !(endsWithFirst && failed > 0); seed++)
        {
            try
            {
                Console.WriteLine(new StopRun(seed).Check());
            }
            catch (Exception exception) when (exception is SimulationException or InvariantException)
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
