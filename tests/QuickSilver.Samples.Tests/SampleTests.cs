using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.SignalR.Client;

namespace QuickSilver.Samples.Tests;

public sealed class SampleTests
{
    private readonly string _cluster = $"--QuickSilver:Cluster=samples-{Guid.NewGuid():N}";

    [Fact]
    public async Task Two_workers_archive_each_others_readings_and_end_on_a_signal()
    {
        await using var north = new SampleProcess("Telemetry", _cluster, "--Sensor:Name=north");
        await using var south = new SampleProcess("Telemetry", _cluster, "--Sensor:Name=south");
        await north.ReadAsync("south measured");
        await south.ReadAsync("north measured");
        foreach (var worker in new[] { north, south })
        {
            Assert.DoesNotContain(await worker.StopAsync(), line => line.Contains(" ERR]", StringComparison.Ordinal));
        }
    }

    [Fact]
    public async Task The_web_page_shows_prices_by_server_sent_events_and_by_SignalR()
    {
        await using var sample = new SampleProcess("LivePrices", _cluster, "--urls", "http://127.0.0.1:0");
        string listening = await sample.ReadAsync("Now listening on: ");
        var address = new Uri(listening[listening.IndexOf("http", StringComparison.Ordinal)..].Trim());
        using var client = new HttpClient { BaseAddress = address };
        Assert.Contains("new EventSource('/prices')", await client.GetStringAsync("/"));

        await using var events = await client.GetStreamAsync("/prices");
        using var reader = new StreamReader(events);
        string? line;
        do
        {
            line = await reader.ReadLineAsync();
        }
        while (line is not null && !line.StartsWith("data:", StringComparison.Ordinal));
        Assert.NotNull(line);
        CheckPrice(JsonDocument.Parse(line["data:".Length..]).RootElement);

        await using var hub = new HubConnectionBuilder().WithUrl(new Uri(address, "/hub")).Build();
        var price = new TaskCompletionSource<JsonElement>(TaskCreationOptions.RunContinuationsAsynchronously);
        hub.On<JsonElement>("price", pushed => price.TrySetResult(pushed));
        await hub.StartAsync();
        CheckPrice(await price.Task.WaitAsync(TimeSpan.FromMinutes(1)));
        Assert.Equal("Healthy", await client.GetStringAsync("/health"));
    }

    [Fact]
    public async Task Two_caches_drop_what_either_changes_and_keep_the_rest()
    {
        await using var sample = new SampleProcess("CacheInvalidation");
        Assert.Equal(
            [
                "Both caches: tea, 4.00 and tea, 4.00",
                "The second has coffee, 5.00",
                "Both caches: tea, 4.50 and tea, 4.50",
                "The second kept coffee: True",
            ],
            await sample.EndAsync());
    }

    [Fact]
    public async Task A_customer_asks_shops_of_which_one_fails()
    {
        await using var sample = new SampleProcess("Requests");
        Assert.Equal(
            [
                "No shop is open yet.",
                "The first answer comes from an open shop: True",
                "market: 8.40",
                "corner: 9.00",
                "One failed: The shop closed sells nothing today.",
            ],
            await sample.EndAsync());
    }

    [Fact]
    public async Task A_screen_that_is_switched_on_late_shows_the_last_prices_and_then_the_changes()
    {
        await using var sample = new SampleProcess("LastValue");
        Assert.Equal(
            ["DAL costs 69", "UAL costs 49", "PAN is gone: True", "UAL has gone up to 55"],
            await sample.EndAsync());
    }

    [Fact]
    public async Task The_books_of_all_traders_are_equal_after_the_one_that_orders_was_killed_and_came_back()
    {
        await using var sample = new SampleProcess("TradingFloor", "3", "6", "7");
        string[] lines = await sample.EndAsync();
        Assert.StartsWith("The books of 3 traders are equal, byte by byte: ", lines[^1], StringComparison.Ordinal);
        long orders = long.Parse(lines[^1].Split(": ")[1].Split(' ')[0], CultureInfo.InvariantCulture);
        Assert.True(orders > 100, lines[^1]);
    }

    private static void CheckPrice(JsonElement price)
    {
        Assert.Contains(price.GetProperty("symbol").GetString(), (string[])["MSFT", "AAPL", "NVDA"]);
        Assert.InRange(decimal.Parse(price.GetProperty("value").GetRawText(), CultureInfo.InvariantCulture), 100m, 500m);
    }
}
