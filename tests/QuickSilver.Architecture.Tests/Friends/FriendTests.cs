using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests.Friends;

// The internals of a project are seen by: projects above, by the layer rule; a project's own tests; and the exceptions of one table.
public sealed class FriendTests
{
    private static readonly string[] Built = ["src", "tools", "samples", "benchmarks"];

    [Fact]
    public void Friends_look_downwards_only_and_stand_in_one_table()
    {
        var wrong =
            from pair in ProjectFile.Friends()
            where !IsTestOrBenchmark(pair.Friend) && LayerRules.FloorOf(pair.Friend) <= LayerRules.FloorOf(pair.Owner)
            select $"{pair.Owner} shows its internals to {pair.Friend}";
        var elsewhere = ProjectFile.All([.. Built, "tests"]).Where(p => p.DeclaresFriends).Select(p => p.Path)
            .Concat(Repository.Files(Built, ".cs").Where(f => Repository.Read(f).Contains("InternalsVisibleTo", StringComparison.Ordinal)));

        Assert.NotEmpty(ProjectFile.Friends());
        Violations.AssertNone(wrong);
        Violations.AssertNone(elsewhere);
    }

    [Fact]
    public void Tests_see_internals_of_their_own_project_and_those_that_the_table_of_exceptions_names()
    {
        var agreed = FriendExceptions.All.SelectMany(static one => one.Owners.Select(owner => $"{owner} to {one.Friend}"));
        var declared = ProjectFile.Friends()
            .Where(static pair => IsTestOrBenchmark(pair.Friend) && pair.Friend != pair.Owner + ".Tests")
            .Select(static pair => $"{pair.Owner} to {pair.Friend}");

        Assert.Equal(agreed.Order(StringComparer.Ordinal), declared.Order(StringComparer.Ordinal));
    }

    // Of those that are built; a build of all leaves none out.
    [Fact]
    public void Each_exception_is_needed() => Violations.AssertNone(
        from one in FriendExceptions.All
        let file = BuiltFile(one.Friend)
        where File.Exists(file)
        from owner in one.Owners.Except(InternalUses.OwnersOf(file))
        select $"{one.Friend} uses no internals of {owner}: take it from the table and from Directory.Build.targets");

    private static bool IsTestOrBenchmark(string project) =>
        project.EndsWith(".Tests", StringComparison.Ordinal)
        || project is "QuickSilver.Microbenchmarks" or "QuickSilver.Fuzz" or "QuickSilver.Receipts";

    // All output lies alike: the project's folder, and in it the configuration's.
    private static string BuiltFile(string project)
    {
        var configuration = new DirectoryInfo(AppContext.BaseDirectory);
        return Path.Combine(configuration.Parent!.Parent!.FullName, project, configuration.Name, project + ".dll");
    }
}
