using Microsoft.Playwright;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Dashboard.Tests;

// Takes the pictures of docs/dashboard.md. It runs only where explicit tests are asked for.
public sealed class DashboardScreenshots(ChromiumBrowser chromium) : IClassFixture<ChromiumBrowser>
{
    private const float WarmUpMillis = 15_000;
    private const float WatchMillis = 60_000;

    [Fact(Explicit = true)]
    public async Task The_pictures_of_the_docs_are_taken()
    {
        await using var cluster = new WatchedCluster(chromium.Browser, "trading");
        cluster.Load("prices/LHR", 9_000, TimeSpan.FromMinutes(5));
        cluster.Load("orders", 2_000, TimeSpan.FromMinutes(5));
        var light = await cluster.OpenAsync(height: 1_050);
        await light.WaitForTimeoutAsync(WarmUpMillis);

        // Without what the start has cost.
        cluster.RestartDashboard();
        await light.ReloadAsync();
        var dark = await cluster.OpenAsync(height: 1_050, scheme: ColorScheme.Dark);
        var narrow = await cluster.OpenAsync(width: 360, height: 780, scheme: ColorScheme.Dark);
        await light.WaitForTimeoutAsync(WatchMillis);
        await light.Locator("#panel-nodes .toggle").First.ClickAsync();
        await SaveAsync(light, "dashboard-light");
        await SaveAsync(narrow, "dashboard-narrow");

        // The subscribers of this topic write what they receive, and no process reads it.
        cluster.Load("news", 3_000, TimeSpan.FromMinutes(5));
        await Assertions.Expect(dark.Locator("#strip")).ToBeVisibleAsync(new() { Timeout = 60_000 });
        await dark.Keyboard.PressAsync("4");
        await SaveAsync(dark, "dashboard-dark");
    }

    private static Task SaveAsync(IPage page, string name) => page.ScreenshotAsync(new()
    {
        Path = Path.GetFullPath(Path.Combine(Programs.Qsm, "../../../../..", "docs", "images", name + ".png")),
    });
}
