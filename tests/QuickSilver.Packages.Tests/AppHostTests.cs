using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// The app host of Aspire, as the page about watching shows it. Aspire's packages are no package of this solution, so they come from the
// machine's feeds, and stay beside the other packages of the machine.
[Collection(nameof(Feed))]
public sealed partial class AppHostTests(Feed feed)
{
    [SkippableFact]
    public void The_app_host_on_the_page_builds_with_the_versions_that_the_page_names()
    {
        string page = File.ReadAllText(Path.Combine(Feed.Root, "docs", "watching.md")).ReplaceLineEndings("\n");
        string folder = feed.NewcomersFolder("aspire", withPublicFeed: true);
        string host = Directory.CreateDirectory(Path.Combine(folder, "AppHost")).FullName;
        File.WriteAllText(Path.Combine(host, "AppHost.csproj"), Project().Match(page).Groups[1].Value);
        File.WriteAllText(Path.Combine(host, "Program.cs"), Program().Match(page).Groups[1].Value);
        // Another test builds the worker of the page. Here it only has to be there.
        string shop = Directory.CreateDirectory(Path.Combine(folder, "Shop")).FullName;
        File.WriteAllText(Path.Combine(shop, "Program.cs"), "Console.WriteLine();");
        NewcomersProject.Write(shop, "Shop", NewcomersProject.Kind.Program);

        var (code, written) = DotnetCommand.Try(folder, "dotnet", "restore", "AppHost", "--packages", Feed.Known("PackageFolder"));
        bool isReached = code == 0 || !written.Contains("Unable to load the service index", StringComparison.Ordinal);
        Skip.IfNot(isReached, "The feeds of the machine are not reached.");
        Assert.True(code == 0, written);
        DotnetCommand.Dotnet(folder, "build", "AppHost", "--no-restore", "-o", "bin");
        Assert.True(File.Exists(Path.Combine(folder, "bin", "AppHost.dll")));
    }

    [GeneratedRegex("^```xml\n(<Project Sdk=\"Aspire\\.AppHost\\.Sdk/(?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Project();

    [GeneratedRegex("^```c# \\(app host\\)\n((?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Program();
}
