using Microsoft.Playwright;

namespace QuickSilver.Dashboard.Tests;

// The browser of the machine, one for all tests. Nothing is downloaded.
public sealed class ChromiumBrowser : IAsyncLifetime
{
    private static readonly string[] Paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

    private static readonly string[] Arguments =
    [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ];

    private IPlaywright? _playwright;
    private IBrowser? _browser;

    private static string? Installed => Paths.FirstOrDefault(File.Exists);

    /// <summary>Skips the test if there is no browser.</summary>
    public IBrowser Browser
    {
        get
        {
            Assert.SkipWhen(_browser is null, $"no Chromium is installed: none of {string.Join(", ", Paths)} exists");
            return _browser;
        }
    }

    public async ValueTask InitializeAsync()
    {
        if (Installed is { } path)
        {
            // A busy machine takes its time.
            Assertions.SetDefaultExpectTimeout(30_000);
            _playwright = await Playwright.CreateAsync();
            _browser = await _playwright.Chromium.LaunchAsync(new() { ExecutablePath = path, Args = Arguments });
        }
    }

    public async ValueTask DisposeAsync()
    {
        await (_browser?.CloseAsync() ?? Task.CompletedTask);
        _playwright?.Dispose();
    }
}
