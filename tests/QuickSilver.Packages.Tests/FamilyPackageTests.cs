using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// The package of a family, beside the one of the library: the program in the folder Families, as two processes on the loopback interface.
[Collection(nameof(Feed))]
public sealed class FamilyPackageTests(Feed feed)
{
    private const string Name = "Receipts";

    internal static UserProgram UserProgram { get; } = UserProgram.Of(
        Name,
        NewcomersProject.Kind.Program,
        File.ReadAllText(Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Families", "Receipts.cs")),
        ("QuickSilver.Receipts", Feed.Version));

    [Fact]
    public async Task A_topic_of_a_family_is_opened_on_nodes_of_two_processes()
    {
        // A name of its own: other clusters may be on this interface.
        string cluster = $"receipts-{Guid.NewGuid():N}";
        await using var subscriber = feed.Programs.Start(Name, "subscribe", cluster);
        string published = await Task.Run(() => feed.Programs.Run(Name, "publish", cluster));
        var reader = (await subscriber.NextAsync("^(.*) has read 1000 messages.$")).Groups[1];

        Assert.Equal($"{reader} has taken 1000 messages.", published.Trim());
    }
}
