using System.Diagnostics;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Perf;

// The topics of one measurement, open. Receivers subscribe to one topic more, the barrier, once their handlers stand on
// all others; a sender that waits for them there loses no message to a receiver that is only half ready.
internal sealed class PerfTopics : IAsyncDisposable
{
    // Enough to keep the service busy with batches, few enough not to flood it.
    private const int OpeningAtOnce = 512;

    private readonly ITopic<ReadOnlyMemory<byte>>[] _topics;

    private PerfTopics(ITopic<ReadOnlyMemory<byte>>[] topics, double openSeconds)
    {
        _topics = topics;
        OpenSeconds = Math.Round(openSeconds, 3);
    }

    public int Count => _topics.Length;

    public double OpenSeconds { get; }

    public ITopic<ReadOnlyMemory<byte>> this[int index] => _topics[index];

    public static string Barrier(string topic) => $"{topic}/ready";

    /// <summary>Opens <paramref name="count"/> topics: the named one, or "name/0" and so on where there are more.</summary>
    public static async Task<PerfTopics> OpenAsync(Session session, QuickSilverNode node, string name, int count, TopicAccess access)
    {
        long start = Stopwatch.GetTimestamp();
        var topics = new ITopic<ReadOnlyMemory<byte>>[count];
        for (int first = 0; first < count; first += OpeningAtOnce)
        {
            int batch = Math.Min(OpeningAtOnce, count - first);
            var opened = await Task.WhenAll(Enumerable.Range(first, batch)
                .Select(i => session.OpenAsync(node, count == 1 ? name : $"{name}/{i}", access)));
            opened.CopyTo(topics, first);
        }

        return new PerfTopics(topics, Stopwatch.GetElapsedTime(start).TotalSeconds);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var topic in _topics)
        {
            await topic.DisposeAsync();
        }
    }
}
