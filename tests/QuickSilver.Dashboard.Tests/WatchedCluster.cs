using System.Diagnostics;
using System.Globalization;
using Microsoft.Playwright;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Dashboard.Tests;

// A cluster of two processes, its dashboard, and pages of it that note what a browser complains about.
internal sealed class WatchedCluster : IAsyncDisposable
{
    /// <summary>What a page must not take for markup. A name may not contain '>', but the next of the page would end the tag.</summary>
    public const string HostileTopic = "\"'&amp;<b x='y'<img src=x onerror=window.hostile=1 ";

    private static readonly string[] Topics = ["news", "prices/ORD", HostileTopic];

    private readonly IBrowser _browser;
    private readonly ToolProcesses _processes = new();
    private readonly List<string> _complaints = [];
    private readonly List<IBrowserContext> _contexts = [];
    private readonly string _service;

    public WatchedCluster(IBrowser browser, string? name = null)
    {
        _browser = browser;
        Name = name ?? $"browser {Guid.NewGuid():N}";
        _service = _processes.StartService(Name);
        Subscriber = Join("sub", Topics);
        Publisher = Join("sub", "news");
        Dashboard = _processes.Start(["dashboard", "--listen", "127.0.0.1:0", "--gms", _service, "--cluster", Name]);
        Address = ToolProcesses.Await(Dashboard.StandardError, "listening ")["listening ".Length..];
    }

    public string Name { get; }

    public string Address { get; }

    public Process Subscriber { get; }

    public Process Publisher { get; }

    public Process Dashboard { get; private set; }

    /// <summary>Errors on the console, exceptions, and violations of the security policy, of all pages.</summary>
    public IReadOnlyList<string> Complaints => _complaints;

    /// <summary>Starts another node with lines to publish.</summary>
    public Process Publish(string topic)
    {
        var process = _processes.Start("pub", topic, "--gms", _service, "--cluster", Name);
        process.StandardInput.AutoFlush = true;
        process.StandardInput.WriteLine("line");
        return process;
    }

    /// <summary>Starts another node that receives messages of a type with fields.</summary>
    public void ReceiveTyped(string topic) =>
        ToolProcesses.Await(
            _processes.Start(["perf", "receive", topic, "--typed-text", "--gms", _service, "--cluster", Name]).StandardError, "ready");

    /// <summary>Starts another node, a member of a group.</summary>
    public void JoinGroup(string group) => ToolProcesses.Await(
        _processes.Start(["group", "join", group, "--gms", _service, "--cluster", Name]).StandardOutput, "# view ");

    /// <summary>Starts two other nodes: one that publishes so many messages a second, and one that receives them.</summary>
    public void Load(string topic, int rate, TimeSpan time)
    {
        string[] where = ["--gms", _service, "--cluster", Name];
        string seconds = time.TotalSeconds.ToString(CultureInfo.InvariantCulture);
        _processes.Start(["perf", "receive", topic, .. where]);
        _processes.Start(["perf", "send", topic, "--receivers", "1", "--seconds", seconds, "--rate", $"{rate}", .. where]);
    }

    /// <summary>Starts the dashboard again, where it was.</summary>
    public void RestartDashboard()
    {
        var at = new Uri(Address);
        Dashboard.Kill();
        Dashboard.WaitForExit();
        Dashboard = _processes.Start("dashboard", "--listen", at.Authority, "--gms", _service, "--cluster", Name);
        ToolProcesses.Await(Dashboard.StandardError, "listening ");
    }

    /// <summary>Opens the page, and waits until it shows the cluster.</summary>
    public async Task<IPage> OpenAsync(int width = 1280, int height = 900, ColorScheme scheme = ColorScheme.Light)
    {
        var context = await _browser.NewContextAsync(new()
        {
            ViewportSize = new() { Width = width, Height = height },
            ColorScheme = scheme,
            ReducedMotion = ReducedMotion.Reduce,
        });
        _contexts.Add(context);
        var page = await context.NewPageAsync();
        page.Console += (_, message) => Note(message.Type == "error", message.Text);
        page.PageError += (_, error) => Note(true, error);
        await page.AddInitScriptAsync(
            "document.addEventListener('securitypolicyviolation', event => "
            + "console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))");
        await page.GotoAsync(Address);
        await page.Locator("#status[data-state=good]").WaitForAsync();
        return page;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var context in _contexts)
        {
            await context.CloseAsync();
        }

        _processes.Dispose();
    }

    private Process Join(string command, params string[] topics)
    {
        var process = _processes.Start([command, .. topics, "--gms", _service, "--cluster", Name]);
        ToolProcesses.Await(process.StandardError, "ready");
        return process;
    }

    private void Note(bool isComplaint, string text)
    {
        lock (_complaints)
        {
            if (isComplaint)
            {
                _complaints.Add(text);
            }
        }
    }
}
