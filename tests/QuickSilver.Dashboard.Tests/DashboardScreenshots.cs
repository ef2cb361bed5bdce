using Microsoft.Playwright;
using QuickSilver.Processes.Tests.Scenarios;

namespace QuickSilver.Dashboard.Tests;

// Takes the pictures of docs/dashboard.md anew with QS_SCREENSHOTS=1.
public sealed class DashboardScreenshots(ChromiumBrowser chromium) : IClassFixture<ChromiumBrowser>
{
    private static readonly TimeSpan Run = TimeSpan.FromSeconds(90);

    [SkippableFact]
    public async Task The_pictures_of_the_docs_are_taken()
    {
        Skip.If(Environment.GetEnvironmentVariable("QS_SCREENSHOTS") != "1", "QS_SCREENSHOTS is not 1");
        await using var cluster = new WatchedCluster(chromium.Browser);
        foreach (var (topic, rate) in new[] { ("news", 2_000), ("prices/ORD", 9_000) })
        {
            cluster.Load(topic, rate, Run);
        }

        var light = await cluster.OpenAsync();
        var dark = await cluster.OpenAsync(scheme: ColorScheme.Dark);
        var narrow = await cluster.OpenAsync(width: 360, height: 780, scheme: ColorScheme.Dark);
        await light.WaitForTimeoutAsync((float)(Run / 2).TotalMilliseconds);
        await light.Locator("#panel-nodes .toggle").First.ClickAsync();
        await SaveAsync(light, "dashboard-light");
        await SaveAsync(narrow, "dashboard-narrow");
        cluster.Publisher.Kill();
        await Assertions.Expect(dark.Locator("#strip")).ToBeVisibleAsync(new() { Timeout = 60_000 });
        await dark.Keyboard.PressAsync("4");
        await SaveAsync(dark, "dashboard-dark");
    }

    private static Task SaveAsync(IPage page, string name) => page.ScreenshotAsync(new()
    {
        Path = Path.GetFullPath(Path.Combine(Programs.Qsm, "../../../../..", "docs", "images", name + ".png")),
    });
}
