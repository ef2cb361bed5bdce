using System.Globalization;
using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// What a .NET team writes in its first month, against the packages alone, each in at least two processes on the loopback interface.
[Collection(nameof(Feed))]
public sealed class TwelveProgramsTests(Feed feed)
{
    // A name of its own: other clusters may be on this interface.
    private readonly string _cluster = $"twelve-{Guid.NewGuid():N}";

    [Fact]
    public async Task A_worker_consumes_what_another_one_publishes_in_order()
    {
        await using var consumer = feed.Programs.Start("Worker", "consume", _cluster);
        await using var publisher = feed.Programs.Start("Worker", "publish", _cluster);
        await ExpectSuccessiveAsync(consumer, "^cellar: ([0-9]+)$");
    }

    [Fact]
    public async Task A_page_shows_what_another_process_publishes_to_each_browser()
    {
        await using var page = feed.Programs.Start("WebPage", "serve", _cluster, "--urls", "http://127.0.0.1:0");
        await using var publisher = feed.Programs.Start("WebPage", "publish", _cluster);
        var address = new Uri((await page.NextAsync("Now listening on: (http://127.0.0.1:[0-9]+)")).Groups[1].Value);
        using var browser = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromMinutes(1) };
        Assert.Contains("new EventSource('/prices')", await browser.GetStringAsync("/"));
        for (int i = 0; i < 2; i++)
        {
            using var stream = new StreamReader(await browser.GetStreamAsync("/prices"));
            string? line = await stream.ReadLineAsync();
            Assert.Matches("""^data: \{"symbol":"UAL","amount":[0-9]+\}$""", line);
        }
    }

    [Fact]
    public async Task A_request_to_another_process_is_answered()
    {
        await using var responder = feed.Programs.Start("Requests", "respond", _cluster);
        await using var requester = feed.Programs.Start("Requests", "ask", _cluster);
        await requester.NextAsync("^UAL costs 12.5$");
        await requester.EndAsync();
    }

    [Fact]
    public async Task A_process_that_starts_later_has_the_last_values()
    {
        await using var exchange = feed.Programs.Start("LastValue", "set", _cluster);
        await exchange.NextAsync("^set$");
        await using var screen = feed.Programs.Start("LastValue", "show", _cluster);
        await screen.EndAsync();
        Assert.Equal(["LHA costs 100 EUR", "UAL costs 100 USD"], screen.Lines.Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task A_slow_reader_gets_the_newest_messages_and_knows_how_many_it_missed()
    {
        await using var reader = feed.Programs.Start("SlowReader", "read", _cluster);
        await using var publisher = feed.Programs.Start("SlowReader", "publish", _cluster);
        var first = await reader.NextAsync("^Aurora at ([0-9]+)");
        int missed = 0;
        for (int read = 1; read <= 10; read++)
        {
            missed += Number(await reader.NextAsync("^missed ([0-9]+)$"));
            var next = await reader.NextAsync("^Aurora at ([0-9]+)");
            // Between two gaps it read those that waited.
            int passed = Number(next) - Number(first);
            Assert.InRange(missed, 1, passed - 1);
        }
    }

    [Fact]
    public async Task Two_releases_exchange_values_of_two_versions_of_a_type()
    {
        await using var old = feed.Programs.Start("VersionsOld", _cluster);
        await using var next = feed.Programs.Start("VersionsNew", _cluster);
        await old.NextAsync("^Order { Product = coffee, Count = 3 }$");
        await next.NextAsync("^Order { Product = tea, Count = 2, Currency =  }$");
        await old.EndAsync();
        await next.EndAsync();
    }

    [Fact]
    public async Task A_test_in_memory_passes_in_two_processes_that_do_not_meet()
    {
        string[] written = await Task.WhenAll(Enumerable.Range(0, 2).Select(_ =>
            Task.Run(() => feed.Programs.Test("Tested"))));
        Assert.All(written, static text => Assert.Contains("Passed:     1", text));
    }

    [Fact]
    public async Task Both_processes_export_what_they_count()
    {
        await using var consumer = feed.Programs.Start("Metrics", "consume", _cluster);
        await using var publisher = feed.Programs.Start("Metrics", "publish", _cluster);
        await ExpectCountAsync(publisher, "messaging.client.sent.messages");
        await ExpectCountAsync(consumer, "messaging.client.consumed.messages");
    }

    [Fact]
    public async Task A_program_that_is_compiled_ahead_of_time_reads_what_another_one_publishes()
    {
        var program = feed.CompiledAheadOfTime;
        await using var reader = RunningProgram.Start(program.Folder, program.File, "read", _cluster);
        await using var publisher = RunningProgram.Start(program.Folder, program.File, "publish", _cluster);
        await ExpectSuccessiveAsync(reader, "^UAL costs ([0-9]+)$");
    }

    [Fact]
    public async Task Two_workers_share_jobs_and_none_does_those_of_the_other()
    {
        await using var first = feed.Programs.Start("WorkSharing", "work", _cluster, "0");
        await using var second = feed.Programs.Start("WorkSharing", "work", _cluster, "1");
        await using var publisher = feed.Programs.Start("WorkSharing", "publish", _cluster);
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(0, Number(await first.NextAsync("^job ([0-9]+): paint$")) % 2);
            Assert.Equal(1, Number(await second.NextAsync("^job ([0-9]+): paint$")) % 2);
        }
    }

    [Fact]
    public async Task A_cache_drops_what_another_process_has_changed()
    {
        await File.WriteAllTextAsync(Path.Combine(feed.Programs.FolderOf("CacheInvalidation"), "tea.txt"), "4.00");
        await using var shop = feed.Programs.Start("CacheInvalidation", "shop", _cluster);
        await shop.NextAsync("^tea costs 4.00$");
        await using var change = feed.Programs.Start("CacheInvalidation", "change", _cluster, "4.50");
        await change.EndAsync();
        await shop.NextAsync("^tea costs 4.50$");
    }

    [Fact]
    public async Task One_reader_reads_all_topics_that_begin_alike()
    {
        await using var reader = feed.Programs.Start("ManyTopics", "read", _cluster);
        await using var publisher = feed.Programs.Start("ManyTopics", "publish", _cluster);
        foreach (string symbol in new[] { "UAL", "DAL", "LHA" })
        {
            await reader.NextAsync($"^prices/{symbol}: [0-9]+ USD$");
        }
    }

    // From any of them on, because a message that is published before a node subscribes goes to no node.
    private static async Task ExpectSuccessiveAsync(RunningProgram program, string pattern)
    {
        int first = Number(await program.NextAsync(pattern));
        for (int i = 1; i <= 5; i++)
        {
            Assert.Equal(first + i, Number(await program.NextAsync(pattern)));
        }
    }

    // As OpenTelemetry's console exporter writes it: the name in a line, and the value in one of those that follow.
    private static async Task ExpectCountAsync(RunningProgram program, string name)
    {
        int value = 0;
        while (value < 5)
        {
            await program.NextAsync($"Metric Name: {name}[, ]");
            value = Number(await program.NextAsync("^Value: ([0-9]+)$"));
        }
    }

    private static int Number(Match match) =>
        int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture);
}
