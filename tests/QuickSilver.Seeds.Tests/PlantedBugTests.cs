using System.Diagnostics;
using QuickSilver.Seeds.Tests.Infrastructure;
using QuickSilver.Seeds.Tests.PlantedBugs;

namespace QuickSilver.Seeds.Tests;

// What would find a bug is tried on bugs: each of a list is planted in a copy of the protocol, and its campaign must find it within 500
// seeds. A usual run plants one that is found within a minute, another one with each commit. All of them, which takes half an hour:
//   dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.PlantedBugTests" --explicit only
// QS_PLANTED=<words of a name> chooses among all, with and without --explicit only.
public sealed class PlantedBugTests(ITestOutputHelper output)
{
    private const int MostSeeds = 500;

    public static TheoryData<string> All => [.. Named(PlantedBugList.All)];

    public static TheoryData<string> OfThisCommit
    {
        get
        {
            if (!string.IsNullOrEmpty(Words))
            {
                return All;
            }

            string[] quick = [.. Named(PlantedBugList.All.Where(static bug => !bug.IsFoundLate))];
            return [quick[(int)(SeedChoice.NumberOfCommit() % (ulong)quick.Length)]];
        }
    }

    private static string? Words => Environment.GetEnvironmentVariable("QS_PLANTED");

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
    [MemberData(nameof(OfThisCommit))]
    public void A_planted_bug_is_found(string name) => Find(name);

    [Theory(Explicit = true)]
    [MemberData(nameof(All))]
    public void Each_planted_bug_is_found(string name) => Find(name);

    private static IEnumerable<string> Named(IEnumerable<PlantedBug> bugs) =>
        bugs.Select(static bug => bug.Name).Where(static name => name.Contains(Words ?? "", StringComparison.Ordinal));

    private void Find(string name)
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
