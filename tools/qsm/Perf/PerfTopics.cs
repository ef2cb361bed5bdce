using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

internal static class PerfTopics
{
    // Enough to keep the service busy with batches, few enough not to flood it.
    private const int OpeningAtOnce = 512;

    /// <summary>
    /// Receivers subscribe to one topic more, the barrier, once they take the messages of all others; a sender that waits for
    /// them there loses no message to a receiver that is only half ready.
    /// </summary>
    public static string Barrier(string topic) => $"{topic}/ready";

    /// <summary>Opens <paramref name="count"/> topics: the named one, or "name/0" and so on where there are more.</summary>
    public static async Task<PerfTopics<TTopic>> OpenAsync<TTopic>(string name, int count, Func<string, Task<TTopic>> open)
        where TTopic : ITopicEndpoint
    {
        long start = Stopwatch.GetTimestamp();
        var topics = new TTopic[count];
        for (int first = 0; first < count; first += OpeningAtOnce)
        {
            int batch = Math.Min(OpeningAtOnce, count - first);
            var opened = await Task.WhenAll(Enumerable.Range(first, batch)
                .Select(i => open(count == 1 ? name : $"{name}/{i}")));
            opened.CopyTo(topics, first);
        }

        return new PerfTopics<TTopic>(topics, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }
}

// The topics of one measurement, open.
internal sealed class PerfTopics<TTopic>(TTopic[] topics, double openSeconds) : IAsyncDisposable
    where TTopic : ITopicEndpoint
{
    public int Count => topics.Length;

    public double OpenSeconds { get; } = Math.Round(openSeconds, 3);

    public TTopic this[int index] => topics[index];

    // At once: each waits for the view without it, and one view drops them all.
    public async ValueTask DisposeAsync() => await Task.WhenAll(topics.Select(topic => topic.DisposeAsync().AsTask()));
}
