using QuickSilver.Seeds.Tests.PlantedBugs;

namespace QuickSilver.Seeds.Tests;

// What would find a bug is tried on bugs: each of a list is planted in a copy of the protocol, and campaign MixedFaults must
// find it within 500 seeds. One of them in a usual run; all of them (some minutes each):
//   QS_PLANTED=all dotnet test --project tests/QuickSilver.Seeds.Tests -c Release --filter-class "*.PlantedBugTests"
// QS_PLANTED=<words of a name> chooses among them.
public sealed class PlantedBugTests(ITestOutputHelper output)
{
    private const int MostSeeds = 500;

    public static TheoryData<string> Chosen => Environment.GetEnvironmentVariable("QS_PLANTED") switch
    {
        null or "" => [PlantedBugList.All[0].Name],
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
        using var build = new MutatedBuild(bug);
        ulong? seed = build.FirstFailing(MostSeeds, bug);
        Assert.True(seed is not null, $"'{name}' was found by none of {MostSeeds} seeds.");
        output.WriteLine($"'{name}' was found by seed {seed}.");
        Console.WriteLine($"'{name}' was found by seed {seed}.");
    }
}
