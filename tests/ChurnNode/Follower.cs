using System.Text.Json;
using QuickSilver;
using StreamNode;

namespace ChurnNode;

// Keeps its own topics from start to end; opens and closes others at random moments, half of them topics with traffic
// and half of them its fellows' playground, so that it moves from region to region all the time.
internal static class Follower
{
    public static async Task<int> RunAsync(QuickSilverNode node, int topics, int[] kept, double changesPerSecond, int seed)
    {
        var endpoints = new List<Endpoint>();
        foreach (int topic in kept)
        {
            endpoints.Add(await Endpoint.OpenAsync(node, topic, isKept: true));
        }

        Console.Error.WriteLine("ready");
        using var enough = new CancellationTokenSource();
        Task<int> wandering = WanderAsync(node, topics, kept, changesPerSecond, new Random(seed), endpoints, enough.Token);
        await Console.In.ReadLineAsync();
        await enough.CancelAsync();
        int changes = await wandering;
        foreach (var endpoint in endpoints)
        {
            await endpoint.CloseAsync();
        }

        var report = new FollowReport(
            changes,
            Meters.ReadNumber("quicksilver.repairs"),
            Meters.ReadNumber("quicksilver.kernel.drops"),
            endpoints.ConvertAll(endpoint => endpoint.Report()));
        Console.Out.WriteLine(JsonSerializer.Serialize(report, ReportJson.Default.FollowReport));
        return report.Endpoints.All(endpoint => endpoint.Fault is null) ? 0 : 1;
    }

    private static async Task<int> WanderAsync(
        QuickSilverNode node,
        int topics,
        int[] kept,
        double changesPerSecond,
        Random random,
        List<Endpoint> endpoints,
        CancellationToken enough)
    {
        // Twice as many topics as there are with traffic: the upper half has none.
        int[] choices = Enumerable.Range(0, 2 * topics).Except(kept).ToArray();
        var visited = new Dictionary<int, Endpoint>();
        int changes = 0;
        while (true)
        {
            try
            {
                await Task.Delay(TimeSpan.FromSeconds(-Math.Log(1 - random.NextDouble()) / changesPerSecond), enough);
            }
            catch (OperationCanceledException)
            {
                return changes;
            }

            int topic = choices[random.Next(choices.Length)];
            if (visited.Remove(topic, out var known))
            {
                await known.CloseAsync();
            }
            else
            {
                endpoints.Add(visited[topic] = await Endpoint.OpenAsync(node, topic, isKept: false));
            }

            changes++;
            // Half of the topics at a time, so that coming and leaving balance.
            if (visited.Count > choices.Length / 2)
            {
                int oldest = visited.Keys.Min();
                visited.Remove(oldest, out var left);
                await left!.CloseAsync();
                changes++;
            }
        }
    }
}
