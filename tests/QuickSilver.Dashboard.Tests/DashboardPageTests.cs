using Deque.AxeCore.Playwright;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace QuickSilver.Dashboard.Tests;

// The page of qsm dashboard in a browser, over a cluster of processes.
public sealed class DashboardPageTests(ChromiumBrowser chromium) : IClassFixture<ChromiumBrowser>, IAsyncLifetime
{
    private WatchedCluster? _cluster;
    // A page that loses its dashboard complains; no other does.
    private bool _mayComplain;

    [Fact]
    public async Task The_page_shows_the_nodes_topics_and_regions_of_the_cluster()
    {
        var page = await OpenAsync();
        await Expect(page.Locator("#cluster")).ToHaveTextAsync(_cluster!.Name);
        await Expect(page.Locator("#panel-nodes .row")).ToHaveCountAsync(2);
        await Expect(page.Locator("#card-nodes .figure")).ToHaveTextAsync("2");
        await Expect(page.Locator("#panel-nodes .c-state").Filter(new() { HasText = "up" })).ToHaveCountAsync(2);
        await page.GetByRole(AriaRole.Tab, new() { Name = "Topics" }).ClickAsync();
        await Expect(page.Locator("#panel-topics .row")).ToHaveCountAsync(3);
        await page.GetByRole(AriaRole.Tab, new() { Name = "Regions" }).ClickAsync();
        Assert.NotEqual(0, await page.Locator("#panel-regions .row").CountAsync());
        await Expect(page.Locator(".plot canvas")).ToHaveCountAsync(4);
    }

    [Fact]
    public async Task Groups_have_a_table_when_there_are_some_and_open_to_their_members()
    {
        var page = await OpenAsync();
        var tab = page.GetByRole(AriaRole.Tab, new() { Name = "Groups" });
        await Expect(page.Locator("#panel-nodes .row")).ToHaveCountAsync(2);
        await Expect(tab).ToBeHiddenAsync();
        await page.Keyboard.PressAsync("5");
        await Expect(page.Locator("#panel-nodes")).ToBeVisibleAsync();

        const string Name = $"orders {WatchedCluster.HostileTopic}";
        _cluster!.JoinGroup(Name);
        _cluster.JoinGroup(Name);
        await tab.ClickAsync();
        var row = page.Locator("#panel-groups .row");
        await Expect(row).ToHaveCountAsync(1);
        await Expect(row.Locator(".text").First).ToHaveTextAsync(Name);
        await Expect(row.Locator("td").Nth(1)).ToHaveTextAsync("2");
        await row.Locator(".toggle").ClickAsync();
        await Expect(page.Locator("#panel-groups .fields tbody tr")).ToHaveCountAsync(2);
        await Expect(page.Locator("#panel-groups .fields tbody tr").Nth(1).Locator("td").First).ToHaveTextAsync("1");
        Assert.Equal(0, await page.EvaluateAsync<int>("() => window.hostile ?? 0"));
    }

    [Fact]
    public async Task Figures_follow_the_cluster()
    {
        var page = await OpenAsync();
        var publisher = _cluster!.Publish("news");
        await Expect(page.Locator("#panel-nodes .row")).ToHaveCountAsync(3);
        var published = page.Locator("#card-out .figure");
        for (int i = 0; i < 300 && await published.TextContentAsync() is "0" or "–"; i++)
        {
            publisher.StandardInput.WriteLine("line");
            await page.WaitForTimeoutAsync(20);
        }

        Assert.NotEqual("0", await published.TextContentAsync());
    }

    [Fact]
    public async Task Names_of_topics_are_text_and_nothing_of_them_is_run()
    {
        var page = await OpenAsync();
        await page.Keyboard.PressAsync("2");
        await Expect(page.Locator("#panel-topics .c-name .text").Filter(new() { HasText = "onerror" }))
            .ToHaveTextAsync(WatchedCluster.HostileTopic);
        await Expect(page.Locator("#panel-topics img, #panel-topics b")).ToHaveCountAsync(0);
        Assert.False(await page.EvaluateAsync<bool>("() => 'hostile' in window"));
    }

    [Fact]
    public async Task The_theme_toggles_and_is_remembered()
    {
        var page = await OpenAsync();
        var root = page.Locator("html");
        await Expect(root).ToHaveAttributeAsync("data-theme", "auto");
        string light = await GroundAsync(page);
        await page.EmulateMediaAsync(new() { ColorScheme = ColorScheme.Dark });
        string dark = await GroundAsync(page);
        Assert.NotEqual(light, dark);
        await page.GetByRole(AriaRole.Button, new() { Name = "Theme" }).ClickAsync();
        await Expect(root).ToHaveAttributeAsync("data-theme", "light");
        Assert.Equal(light, await GroundAsync(page));
        await page.Keyboard.PressAsync("t");
        await page.ReloadAsync();
        await Expect(root).ToHaveAttributeAsync("data-theme", "dark");
        await page.EmulateMediaAsync(new() { ColorScheme = ColorScheme.Light });
        Assert.Equal(dark, await GroundAsync(page));
    }

    [Fact]
    public async Task Everything_can_be_done_with_keys()
    {
        var page = await OpenAsync();
        foreach (var (key, name) in new[] { ("2", "topics"), ("3", "regions"), ("4", "waits"), ("1", "nodes") })
        {
            await page.Keyboard.PressAsync(key);
            await Expect(page.Locator($"#panel-{name}")).ToBeVisibleAsync();
            await Expect(page.Locator("[role=tabpanel]:visible")).ToHaveCountAsync(1);
        }

        var rows = page.Locator("#panel-nodes .row");
        await page.Keyboard.PressAsync("j");
        await Expect(rows.Nth(0)).ToBeFocusedAsync();
        await page.Keyboard.PressAsync("ArrowDown");
        await Expect(rows.Nth(1)).ToBeFocusedAsync();
        await page.Keyboard.PressAsync("k");
        await Expect(rows.Nth(0)).ToBeFocusedAsync();
        await page.Keyboard.PressAsync("Enter");
        await Expect(page.Locator(".detail")).ToHaveCountAsync(1);
        await page.Keyboard.PressAsync("Enter");
        await Expect(page.Locator(".detail")).ToHaveCountAsync(0);

        await page.Keyboard.PressAsync("2");
        await page.Keyboard.PressAsync("/");
        await page.Keyboard.TypeAsync("ord");
        await Expect(page.Locator("#panel-topics .row")).ToHaveCountAsync(1);
        await page.Keyboard.PressAsync("Escape");
        await Expect(page.Locator("#panel-topics .row")).ToHaveCountAsync(3);
        await page.Keyboard.PressAsync("Escape");

        await page.Keyboard.PressAsync("?");
        await Expect(page.GetByRole(AriaRole.Dialog)).ToBeVisibleAsync();
        await page.Keyboard.PressAsync("Escape");
        await Expect(page.GetByRole(AriaRole.Dialog)).ToBeHiddenAsync();

        await page.Keyboard.PressAsync("p");
        await Expect(page.Locator("#status-text")).ToHaveTextAsync("Paused");
        await page.Keyboard.PressAsync("p");
        await Expect(page.Locator("#status-text")).ToHaveTextAsync("Live");
    }

    [Fact]
    public async Task Tables_are_sorted_by_a_click_and_remember_it()
    {
        var page = await OpenAsync();
        await page.Keyboard.PressAsync("2");
        var names = page.Locator("#panel-topics .c-name .text");
        var head = page.Locator("#panel-topics th").Filter(new() { HasText = "topic" }).First;
        await head.GetByRole(AriaRole.Button).ClickAsync();
        await Expect(head).ToHaveAttributeAsync("aria-sort", "ascending");
        var up = await names.AllTextContentsAsync();
        Assert.Equal(up.Order(StringComparer.Ordinal), up);
        await head.GetByRole(AriaRole.Button).ClickAsync();
        await Expect(head).ToHaveAttributeAsync("aria-sort", "descending");
        Assert.Equal(up.Reverse(), await names.AllTextContentsAsync());
        await page.ReloadAsync();
        await Expect(names).ToHaveCountAsync(3);
        Assert.Equal(up.Reverse(), await names.AllTextContentsAsync());
    }

    [Fact]
    public async Task A_node_opens_to_its_vital_signs_and_stays_open()
    {
        var page = await OpenAsync();
        var toggle = page.Locator("#panel-nodes .toggle").First;
        await toggle.ClickAsync();
        await Expect(toggle).ToHaveAttributeAsync("aria-expanded", "true");
        var detail = page.Locator(".detail");
        await Expect(detail).ToContainTextAsync("Packet memory");
        string before = (await page.Locator("#time").TextContentAsync())!;
        await Expect(page.Locator("#time")).Not.ToHaveTextAsync(before);
        await Expect(detail).ToContainTextAsync("Token round trip");
        await toggle.ClickAsync();
        await Expect(detail).ToHaveCountAsync(0);
    }

    [Fact]
    public async Task A_topic_opens_to_the_versions_of_its_contract_and_the_nodes_that_have_each()
    {
        var page = await OpenAsync();
        _cluster!.ReceiveTyped("typed");
        await page.Keyboard.PressAsync("2");
        var panel = page.Locator("#panel-topics");
        var typed = panel.GetByRole(AriaRole.Button, new() { Name = "typed", Exact = true });
        await typed.ClickAsync();
        await Expect(panel.Locator(".holders")).ToContainTextAsync("1 node: qsm-perf-receive@");
        await Expect(panel.Locator(".fields tr").First).ToContainTextAsync("Number");
        await Expect(panel.Locator(".fields tr").First).ToContainTextAsync("int64");
        await typed.ClickAsync();
        await Expect(panel.Locator(".detail")).ToHaveCountAsync(0);

        await panel.Locator(".toggle").Filter(new() { HasText = "onerror" }).ClickAsync();
        await Expect(panel.Locator(".contract")).ToContainTextAsync("takes any payload");
        await Expect(panel.Locator(".detail img, .detail b")).ToHaveCountAsync(0);
        Assert.False(await page.EvaluateAsync<bool>("() => 'hostile' in window"));
    }

    [Fact]
    public async Task A_node_that_is_killed_is_shown_as_silent_with_what_to_do_and_then_as_removed()
    {
        var page = await OpenAsync();
        _cluster!.Publisher.Kill();
        var patient = new LocatorAssertionsToContainTextOptions { Timeout = 60_000 };
        await Expect(page.Locator("#panel-nodes")).ToContainTextAsync("silent", patient);
        await Expect(page.Locator("#strip")).ToBeVisibleAsync();
        await page.Locator("#strip").ClickAsync();
        await Expect(page.Locator("#panel-waits")).ToContainTextAsync("What to do");
        await page.Keyboard.PressAsync("1");
        await Expect(page.Locator("#panel-nodes")).ToContainTextAsync("removed", patient);
        await Expect(page.Locator("#card-nodes .figure")).ToHaveTextAsync("1");
    }

    [Fact]
    public async Task The_page_says_when_the_dashboard_is_gone_and_comes_back_by_itself()
    {
        var page = await OpenAsync();
        _mayComplain = true;
        _cluster!.Dashboard.Kill();
        await Expect(page.Locator("#banner")).ToContainTextAsync("does not answer");
        await Expect(page.Locator("#status-text")).ToHaveTextAsync("Disconnected");
        _cluster.RestartDashboard();
        await Expect(page.Locator("#status-text")).ToHaveTextAsync("Live", new() { Timeout = 60_000 });
        await Expect(page.Locator("#banner")).ToBeHiddenAsync();
    }

    [Fact]
    public async Task It_fits_a_narrow_screen()
    {
        var page = await OpenAsync(width: 360, height: 740);
        Assert.True(await page.EvaluateAsync<bool>("() => document.documentElement.scrollWidth <= 360"));
        await Expect(page.Locator("#panel-nodes .row")).ToHaveCountAsync(2);
    }

    [Theory]
    [InlineData(ColorScheme.Light, 1280)]
    [InlineData(ColorScheme.Dark, 1280)]
    [InlineData(ColorScheme.Light, 360)]
    public async Task It_is_accessible(ColorScheme scheme, int width)
    {
        var page = await OpenAsync(width, scheme: scheme);
        await page.Locator("#panel-nodes .toggle").First.ClickAsync();
        foreach (string key in (string[])["1", "2", "3", "4"])
        {
            await page.Keyboard.PressAsync(key);
            if (key == "2")
            {
                await page.Locator("#panel-topics .toggle").First.ClickAsync();
                await Expect(page.Locator("#panel-topics .contract")).ToHaveCountAsync(1);
            }

            var result = await page.RunAxe();
            var serious = result.Violations.Where(static one => one.Impact is "serious" or "critical")
                .Select(static one => $"{one.Id}: {one.Help}: {string.Join(", ", one.Nodes.Select(static node => node.Html))}");
            Assert.Empty(serious);
        }
    }

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        if (_cluster is not null)
        {
            await _cluster.DisposeAsync();
            Assert.True(_mayComplain || _cluster.Complaints.Count == 0, string.Join('\n', _cluster.Complaints));
        }
    }

    private static Task<string> GroundAsync(IPage page) =>
        page.EvaluateAsync<string>("() => getComputedStyle(document.body).backgroundColor");

    private async Task<IPage> OpenAsync(int width = 1280, int height = 900, ColorScheme scheme = ColorScheme.Light)
    {
        _cluster = new WatchedCluster(chromium.Browser);
        return await _cluster.OpenAsync(width, height, scheme);
    }
}
