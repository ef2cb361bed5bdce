using System.Globalization;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.Logs;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests;

// Campaign "Logs": machines whose logs get records with checksums, on disks that are full, slow, read-only, fail, rot, and go and come back
// (F9, F29), while processes end and machines lose their power. What was synced is found again, unless it rotted: I12. What rotted is found
// out.
//
// Many seeds, and one again:
//   QS_SEEDS=2000 dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.LogsCampaign"
//   dotnet run --project tests/QuickSilver.Seeds.Tests -c Release -- FIRST COUNT logs
public sealed class LogsCampaign(ITestOutputHelper output)
{
    private const int FewestSeeds = 100;
    private const ulong MostLiars = 40;

    [Fact]
    public void Synced_records_survive_unless_they_rotted_and_no_rotten_record_is_mistaken_for_whole()
    {
        foreach (ulong seed in SeedChoice.Of(FewestSeeds))
        {
            output.WriteLine(new LogRun(seed).Check());
        }
    }

    [Fact]
    public void A_disk_that_reports_syncs_that_it_does_not_do_is_found_out()
    {
        // The check must be able to fail.
        int found = Enumerable.Range(1, (int)MostLiars).Count(static seed => Fails((ulong)seed));
        output.WriteLine($"{found} of {MostLiars} seeds found it");
        Assert.True(found > 0, "No seed found a disk that lies.");
    }

    [Fact]
    public void One_seed_is_one_run() => Assert.Equal(new LogRun(3).Check(), new LogRun(3).Check());

    /// <summary>The number of failed seeds is written, and each of them.</summary>
    public static int RunMany(ulong first, ulong count, bool endsWithFirst)
    {
        int failed = 0;
        for (ulong seed = first; seed < first + count && !(endsWithFirst && failed > 0); seed++)
        {
            try
            {
                Console.WriteLine(new LogRun(seed).Check());
            }
            catch (InvariantException exception)
            {
                failed++;
                Console.WriteLine(exception.Message);
                Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Program.Found}{seed}"));
            }
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{failed} of {count} seeds from {first} on failed"));
        return failed > 0 ? 1 : 0;
    }

    private static bool Fails(ulong seed)
    {
        try
        {
            new LogRun(seed, hasLiars: true).Check();
            return false;
        }
        catch (InvariantException)
        {
            return true;
        }
    }
}
