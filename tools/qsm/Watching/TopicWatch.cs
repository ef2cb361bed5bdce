using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// Topics by their names, each with a reader of its own.
internal sealed class TopicWatch(Session session, QuickSilverNode node, WatchPlan plan, WatchedLines lines) : ITopicWatch
{
    private readonly CancellationTokenSource _stop = new();
    private readonly List<ITopicSubscriber<ReadOnlyMemory<byte>>> _topics = [];
    private readonly List<Task> _readers = [];

    public Task Ended { get; private set; } = Task.CompletedTask;

    public async Task BeginAsync()
    {
        foreach (string name in plan.Names)
        {
            var topic = await session.OpenWatcherAsync(node, name, plan.Assumed, plan.AsReader);
            _topics.Add(topic);
            // Not on this thread: the output may stand still from the first line on.
            _readers.Add(Task.Run(() => ReadAsync(topic)));
        }

        Ended = Task.WhenAny(_readers).Unwrap();
    }

    public async Task StopAsync(TimeSpan limit)
    {
        await DisposeAsync();
        var all = Task.WhenAll(_readers);
        if (await Task.WhenAny(all, Task.Delay(limit)) == all)
        {
            await all;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await Task.WhenAll(_topics.Select(static topic => topic.DisposeAsync().AsTask()));
    }

    private async Task ReadAsync(ITopicSubscriber<ReadOnlyMemory<byte>> topic)
    {
        using var line = lines.Of(topic.Name);
        var all = topic.ReadAllAsync(gap => lines.Missing.Add(topic.Name, gap), _stop.Token);
        await using var messages = all.GetAsyncEnumerator(_stop.Token);
        try
        {
            while (true)
            {
                ValueTask<bool> next = messages.MoveNextAsync();
                if (!next.IsCompleted)
                {
                    await lines.FlushAsync();
                }

                if (!await next)
                {
                    break;
                }

                await line.WriteAsync(messages.Current);
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
        }

        await lines.FlushAsync();
    }
}
