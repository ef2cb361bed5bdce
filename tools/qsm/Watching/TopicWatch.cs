using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// Topics by their names, each with a reader of its own. A reader reads to the end, also when there is nowhere to write: what it left unread
// would be reported as messages that were not handled.
internal sealed class TopicWatch(Session session, QuickSilverNode node, WatchPlan plan, WatchedLines lines) : ITopicWatch
{
    private readonly List<ITopicSubscriber<ReadOnlyMemory<byte>>> _topics = [];
    private readonly List<Task> _readers = [];
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);

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

        Ended = Task.WhenAny([_failed.Task, .. _readers]).Unwrap();
    }

    public async Task<bool> StopAsync(TimeSpan limit)
    {
        await DisposeAsync();
        var all = Task.WhenAll(_readers);
        if (await Task.WhenAny(all, Task.Delay(limit)) != all)
        {
            return false;
        }

        await all;
        return true;
    }

    public async ValueTask DisposeAsync() => await Task.WhenAll(_topics.Select(static topic => topic.DisposeAsync().AsTask()));

    private async Task ReadAsync(ITopicSubscriber<ReadOnlyMemory<byte>> topic)
    {
        using var line = lines.Of(topic.Name);
        bool hasBegun = false;
        await using var messages = topic.ReadAllAsync(OnGap).GetAsyncEnumerator();
        while (true)
        {
            ValueTask<bool> next = messages.MoveNextAsync();
            if (!next.IsCompleted)
            {
                await FlushAsync();
            }

            if (!await next)
            {
                break;
            }

            hasBegun = true;
            await WriteAsync(line, messages.Current);
        }

        await FlushAsync();

        void OnGap(GapNotice gap)
        {
            if (!hasBegun)
            {
                lines.Missing.AddBefore(gap);
            }

            lines.Missing.Add(topic.Name, gap);
        }
    }

    private async ValueTask WriteAsync(TopicLines line, Message<ReadOnlyMemory<byte>> message)
    {
        if (_failed.Task.IsCompleted || lines.Output.IsFull)
        {
            return;
        }

        try
        {
            await line.WriteAsync(message);
        }
        catch (Exception exception) when (exception is IOException or ToolException)
        {
            _failed.TrySetException(exception);
        }
    }

    private async ValueTask FlushAsync()
    {
        if (_failed.Task.IsCompleted)
        {
            return;
        }

        try
        {
            await lines.FlushAsync();
        }
        catch (IOException exception)
        {
            // The output has no reader any more.
            _failed.TrySetException(exception);
        }
    }
}
