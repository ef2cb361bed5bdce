using System.Diagnostics;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.PlantedBugs;

namespace QuickSilver.Seeds.Tests;

// What would find a bug is tried on bugs: each of a list is planted in a copy of the protocol, and its campaign must find it within 500
// seeds. A usual run plants one, another one with each commit, and begins with a seed that finds it. All of them take about ten minutes:
//   QS_PLANTED=all dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.PlantedBugTests"
// QS_PLANTED=<words of a name> chooses among them. They are no explicit tests: each would count as skipped in a usual run.
public sealed class PlantedBugTests(ITestOutputHelper output)
{
    private const int MostSeeds = 500;

    public static TheoryData<string> Chosen => Environment.GetEnvironmentVariable("QS_PLANTED") switch
    {
        null or "" => [PlantedBugList.All[(int)(SeedChoice.NumberOfCommit() % (ulong)PlantedBugList.All.Count)].Name],
        "all" => [.. PlantedBugList.All.Select(bug => bug.Name)],
        var words => [.. PlantedBugList.All.Select(bug => bug.Name).Where(name => name.Contains(words, StringComparison.Ordinal))],
    };

    [Fact]
    public void Each_planted_bug_has_its_place()
    {
        Assert.True(PlantedBugList.All.Count >= 10);
        Assert.Equal(PlantedBugList.All.Count, PlantedBugList.All.Select(bug => bug.Name).Distinct().Count());
        foreach (var bug in PlantedBugList.All)
        {
            string source = File.ReadAllText(Path.Combine(MutatedBuild.Root, bug.File));
            Assert.NotEqual(source, bug.Plant(source));
        }
    }

    [Theory]
    [MemberData(nameof(Chosen))]
    public void A_planted_bug_is_found(string name)
    {
        var bug = PlantedBugList.All.Single(bug => bug.Name == name);
        long begun = Stopwatch.GetTimestamp();
        using var build = new MutatedBuild(bug);
        var built = Stopwatch.GetElapsedTime(begun);
        ulong? seed = build.FirstFailing(MostSeeds, bug);
        string took = $"built in {built.TotalSeconds:F0} s, searched for {(Stopwatch.GetElapsedTime(begun) - built).TotalSeconds:F0} s";
        Assert.True(seed is not null, $"'{name}' was found by none of {MostSeeds} seeds from {bug.FirstSeed} on ({took}).");
        string found = $"'{name}' was found by seed {seed} ({took}).";
        output.WriteLine(found);
        Console.WriteLine(found);
    }
}
