using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Perf;

// Reads a second topic of the same node while the first is measured; or takes one message of it and reads no more, as a program
// does that is stuck.
internal sealed class BesideReader : IAsyncDisposable
{
    private readonly ITopicSubscriber<ReadOnlyMemory<byte>> _topic;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _reading;

    public BesideReader(ITopicSubscriber<ReadOnlyMemory<byte>> topic, bool stalls)
    {
        _topic = topic;
        _reading = Task.Run(() => ReadAsync(stalls));
    }

    public long Delivered { get; private set; }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _reading;
        _stop.Dispose();
        await _topic.DisposeAsync();
    }

    private async Task ReadAsync(bool stalls)
    {
        try
        {
            await foreach (var _ in _topic.ReadAllAsync(_stop.Token))
            {
                Delivered++;
                if (stalls)
                {
                    Terminal.Note($"stopped reading {_topic.Name}");
                    await Task.Delay(Timeout.Infinite, _stop.Token);
                }
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // Its proper end.
        }
    }
}
