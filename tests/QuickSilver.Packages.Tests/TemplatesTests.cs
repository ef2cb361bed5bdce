using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A newcomer who installs the templates, and makes a project of each.
[Collection(nameof(Feed))]
public sealed class TemplatesTests(Feed feed)
{
    [Theory]
    [InlineData("quicksilver-worker")]
    [InlineData("quicksilver-web")]
    public void A_project_of_a_template_has_the_name_that_was_given_and_builds(string template)
    {
        string folder = Make(template);
        Assert.Contains("namespace Shop;", File.ReadAllText(Path.Combine(folder, "Reading.cs")));
        DotnetCommand.Dotnet(folder, "build", "-warnaserror", "-o", "bin");
        Assert.True(File.Exists(Path.Combine(folder, "bin", "appsettings.json")));
    }

    [Fact]
    public async Task A_worker_and_a_page_that_are_made_of_them_show_the_readings_of_each_other()
    {
        string worker = Make("quicksilver-worker", "meet-");
        string web = Make("quicksilver-web", "meet-");
        Assert.Equal(File.ReadAllText(SettingsOf(worker)), File.ReadAllText(SettingsOf(web)));
        DotnetCommand.Dotnet(worker, "build", "-o", "bin");
        DotnetCommand.Dotnet(web, "build", "-o", "bin");

        // A name of its own: other clusters may be on this interface.
        string[] arguments = [Path.Combine("bin", "Shop.dll"), "--QuickSilver:Cluster", $"templates-{Guid.NewGuid():N}"];
        await using var consumer = RunningProgram.Start(worker, "dotnet", arguments);
        await using var page = RunningProgram.Start(web, "dotnet", [.. arguments, "--urls", "http://127.0.0.1:0"]);
        var address = new Uri((await page.NextAsync("Now listening on: (http://127.0.0.1:[0-9]+)")).Groups[1].Value);
        using var browser = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromMinutes(1) };
        using var readings = new StreamReader(await browser.GetStreamAsync("/readings"));
        using var limit = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        string? line;
        do
        {
            line = await readings.ReadLineAsync(limit.Token);
            Assert.NotNull(line);
        }
        while (!line.Contains("\"worker on ", StringComparison.Ordinal));
        await consumer.NextAsync("web on .+: 0[.,][0-9]{3}");
    }

    [Fact]
    public void The_test_of_a_template_passes()
    {
        string folder = Make("quicksilver-simulation");
        Assert.Contains("Passed:     1", DotnetCommand.Dotnet(folder, "test"));
    }

    private static string SettingsOf(string folder) => Path.Combine(folder, "appsettings.json");

    private string Make(string template, string purpose = "")
    {
        string folder = feed.NewcomersFolder($"template-{purpose}{template}");
        string hive = Path.Combine(folder, "hive");
        DotnetCommand.Dotnet(folder, "new", "install", feed.PathOf("QuickSilver.Templates"), "--debug:custom-hive", hive);
        DotnetCommand.Dotnet(folder, "new", template, "-n", "Shop", "-o", Path.Combine(folder, "Shop"), "--debug:custom-hive", hive);
        return Path.Combine(folder, "Shop");
    }
}
