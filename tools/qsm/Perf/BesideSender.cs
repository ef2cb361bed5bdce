using System.Diagnostics;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Tool.Perf.Senders;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Perf;

// Publishes to a second topic of the same node, at a rate, while the first is measured. When the topic has taken nothing for a
// second, a line says so once, so that its reader knows when the wait began.
internal sealed class BesideSender : IAsyncDisposable
{
    public static readonly TimeSpan NotedWait = TimeSpan.FromSeconds(1);

    private readonly ITopicPublisher<ReadOnlyMemory<byte>> _topic;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _sending;
    private bool _isNoted;

    public BesideSender(ITopicPublisher<ReadOnlyMemory<byte>> topic, int payloadBytes, double perSecond)
    {
        _topic = topic;
        _sending = Task.Run(() => SendAsync(new byte[payloadBytes], new Pace(perSecond)));
    }

    /// <summary>Messages that were accepted; exact after <see cref="StopAsync"/>.</summary>
    public long Sent { get; private set; }

    /// <summary>Publishes no more. A message that waits for room is withdrawn.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _sending;
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _stop.Dispose();
        await _topic.DisposeAsync();
    }

    private async Task SendAsync(byte[] payload, Pace pace)
    {
        try
        {
            while (true)
            {
                await pace.WaitForAsync(Sent, _stop.Token);
                PerfMessage.Write(payload, Stopwatch.GetTimestamp(), Sent + 1);
                var accepted = _topic.PublishAsync(payload, _stop.Token);
                await (_isNoted || accepted.IsCompletedSuccessfully ? accepted : NoteAsync(accepted.AsTask()));
                Sent++;
            }
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // Its proper end.
        }
    }

    private async ValueTask NoteAsync(Task accepted)
    {
        if (await Task.WhenAny(accepted, Task.Delay(NotedWait, _stop.Token)) != accepted && !_stop.IsCancellationRequested)
        {
            _isNoted = true;
            Terminal.Note($"{_topic.Name} has taken nothing for {NotedWait.TotalSeconds:0} s, after {Counted.Of(Sent, "message")}");
        }

        await accepted;
    }
}
