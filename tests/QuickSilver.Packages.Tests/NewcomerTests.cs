using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A newcomer who has the packages and the README, and nothing of this repository.
[Collection(nameof(Feed))]
public sealed class NewcomerTests(Feed feed)
{
    private const int MaxFirstProgramLines = 15;

    internal static IReadOnlyList<UserProgram> UserPrograms { get; } =
    [
        UserProgram.Of("First", NewcomersProject.Kind.Program, FirstProgram.Source, ("QuickSilver", Feed.Version)),
        UserProgram.Of("TestedPrices", NewcomersProject.Kind.Test, FirstProgram.Test, ("QuickSilver.Simulation", Feed.Version)),
        UserProgram.Of(
            "TestedHost",
            NewcomersProject.Kind.Test,
            FirstProgram.HostTest,
            ("QuickSilver.Simulation", Feed.Version),
            ("QuickSilver.Hosting", Feed.Version)),
    ];

    [Fact]
    public void The_first_program_of_the_README_is_short_and_has_a_data_contract()
    {
        Assert.InRange(FirstProgram.Source.TrimEnd().Split('\n').Length, 5, MaxFirstProgramLines);
        Assert.Contains("[DataContract]", FirstProgram.Source);
    }

    [Fact]
    public void The_first_program_of_the_README_builds_against_the_package_alone_and_runs()
    {
        string program = feed.Programs.FileOf("First");
        var generated = Directory.EnumerateFiles(
            Path.Combine(feed.Programs.FolderOf("First"), "obj"), "*.cs", SearchOption.AllDirectories);
        Assert.Contains(generated, file => file.Contains("QuickSilver.Generators", StringComparison.Ordinal)
            && File.ReadAllText(file).Contains("Departure", StringComparison.Ordinal));
        // Opening the topic throws where the type has no codec, so that this ends well says that the generated one is used.
        Assert.Contains("UA 412", DotnetCommand.Dotnet(feed.Programs.FolderOf("First"), program));
    }

    [Fact]
    public void The_test_on_the_simulators_page_builds_against_its_package_alone_and_passes()
    {
        Assert.Contains("Passed:     1", feed.Programs.Test("TestedPrices"));
    }

    [Fact]
    public void The_test_of_a_host_on_the_simulators_page_builds_against_two_packages_and_passes()
    {
        Assert.Contains("Passed:     1", feed.Programs.Test("TestedHost"));
    }

    [Fact]
    public void The_tool_installs_from_its_package_and_says_what_it_is()
    {
        string folder = feed.NewcomersFolder("shell");
        DotnetCommand.Dotnet(folder, "tool", "install", "qsm", "--version", Feed.Version, "--tool-path", "tools");
        string qsm = Path.Combine(folder, "tools", OperatingSystem.IsWindows() ? "qsm.exe" : "qsm");
        Assert.StartsWith(Feed.Version, DotnetCommand.Run(folder, qsm, "--version"));
        string help = DotnetCommand.Run(folder, qsm, "--help");
        Assert.All(["gms", "pub", "sub", "perf"], command => Assert.Contains(command, help));
    }
}
