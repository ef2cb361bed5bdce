using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// The app host of Aspire, as the page about watching shows it. Aspire's packages are no package of this solution, so they come from the
// machine's feeds, and stay beside the other packages of the machine. A machine whose feeds do not have them skips the test.
[Collection(nameof(Feed))]
public sealed partial class AppHostTests(Feed feed)
{
    // The dashboard and the orchestrator are 300 MB, and compiling needs neither.
    private const string WithoutPrograms = "-p:SkipAddAspireDefaultReferences=true";

    private static readonly TimeSpan RestoreLimit = TimeSpan.FromSeconds(60);

    // What NuGet says of feeds that are not reached, and of feeds without the package. A version that no feed has is an error of the page.
    private static readonly string[] SaysUnavailable = ["Unable to load the service index", "No packages exist with this id"];

    [Fact]
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

        var restored = DotnetCommand.TryWithin(
            RestoreLimit, folder, "dotnet", "restore", "AppHost", "--packages", Feed.Known("PackageFolder"), WithoutPrograms);
        Assert.SkipWhen(restored is null, $"The packages of Aspire were not restored within {RestoreLimit}.");
        var (code, written) = restored!.Value;
        bool isAvailable = code == 0 || !SaysUnavailable.Any(said => written.Contains(said, StringComparison.Ordinal));
        Assert.SkipUnless(isAvailable, "The feeds of the machine are not reached, or do not have the packages of Aspire.");
        Assert.True(code == 0, written);
        DotnetCommand.Dotnet(folder, "build", "AppHost", "--no-restore", "-o", "bin", WithoutPrograms);
        Assert.True(File.Exists(Path.Combine(folder, "bin", "AppHost.dll")));
    }

    [GeneratedRegex("^```xml\n(<Project Sdk=\"Aspire\\.AppHost\\.Sdk/(?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Project();

    [GeneratedRegex("^```c# \\(app host\\)\n((?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Program();
}
