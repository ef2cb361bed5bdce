using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A host in an application that is compiled ahead of time, and in one that is trimmed: published without a warning, and run.
[Collection(nameof(Feed))]
public sealed class AheadOfTimeTests(Feed feed)
{
    private static readonly string[] Expected =
        ["packed 2 for Ithaca", "counted 17", "found 18", "state 1", "hello", "ticks", "ticks are best effort", "done"];

    [Fact]
    public void A_host_with_topics_consumers_requests_states_and_configuration_is_compiled_ahead_of_time_without_a_warning_and_runs()
    {
        ExpectHost(feed.CompiledAheadOfTime);
        Assert.False(File.Exists(Path.Combine(feed.CompiledAheadOfTime.Folder, "QuickSilver.Hosting.dll")));
    }

    [Fact]
    public void A_host_with_topics_consumers_requests_states_and_configuration_is_trimmed_without_a_warning_and_runs()
    {
        ExpectHost(feed.Trimmed);
        Assert.True(File.Exists(Path.Combine(feed.Trimmed.Folder, "QuickSilver.Hosting.dll")));
    }

    private static void ExpectHost(PublishedProgram program)
    {
        string output = DotnetCommand.Run(program.Folder, program.File, PublishedProgram.HostArgument, $"ahead-{Guid.NewGuid():N}");
        Assert.Equal(Expected, output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Trim()));
    }
}
