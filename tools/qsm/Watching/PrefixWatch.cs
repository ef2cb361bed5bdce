using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Contracts;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Watching;

// All published topics whose names begin alike. A prefix is that of one guarantee, so there is one for each, which refuses the topics of
// the other.
internal sealed class PrefixWatch(Session session, QuickSilverNode node, WatchPlan plan, WatchedLines lines) : ITopicWatch
{
    private static readonly Guarantee[] Guarantees = [Guarantee.Reliable, Guarantee.BestEffort];
    private static readonly TimeSpan FlushInterval = TimeSpan.FromMilliseconds(50);

    private readonly AnyCodec _codec = new();
    private readonly List<ITopicPrefix> _prefixes = [];
    private readonly PrefixLines _lines = new(lines);
    private readonly ILogger _logger = session.Logs.CreateLogger("qsm");
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private Timer? _flush;
    private int _isFlushing;

    public Task Ended => _failed.Task;

    public async Task BeginAsync()
    {
        session.ReportsRefusals = true;
        foreach (string name in plan.Names)
        {
            foreach (var guarantee in Guarantees)
            {
                _prefixes.Add(await OpenAsync(name, guarantee));
            }
        }

        _flush = new Timer(_ => Flush(), null, FlushInterval, FlushInterval);
    }

    public async Task<bool> StopAsync(TimeSpan limit)
    {
        var all = EndAsync();
        if (await Task.WhenAny(all, Task.Delay(limit)) != all)
        {
            return false;
        }

        await all;
        return true;
    }

    public async ValueTask DisposeAsync()
    {
        // Not with a wait for the end of its callback: the output may stand still.
        _flush?.Dispose();
        await Task.WhenAll(_prefixes.Select(static prefix => prefix.DisposeAsync().AsTask()));
    }

    // The disposal of a prefix does not wait long for a handler that does not return; its completion does.
    private async Task EndAsync()
    {
        await DisposeAsync();
        await Task.WhenAll(_prefixes.Select(static prefix => prefix.Completion));
        // Not on this thread: the output may stand still.
        await Task.Run(lines.Output.Flush);
    }

    private async Task<ITopicPrefix> OpenAsync(string name, Guarantee guarantee)
    {
        try
        {
            return await node.OpenPrefixAsync<ReadOnlyMemory<byte>>(
                name, (topic, message, _) => WriteAsync(topic, message), OptionsOf(name, guarantee));
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnOpen(name, exception, carriesBytes: false);
        }
    }

    private PrefixOptions<ReadOnlyMemory<byte>> OptionsOf(string name, Guarantee guarantee) => new()
    {
        Topic = new TopicOptions<ReadOnlyMemory<byte>>(plan.OfPrefix(guarantee)) { Codec = _codec },
        Consumer = new ConsumerOptions<ReadOnlyMemory<byte>>
        {
            OnGap = gap => lines.Missing.Add(name, gap),
            OnEnded = OnEnded,
        },
        OnTopic = topic => OnTopic(topic, guarantee),
    };

    // States, requests, inboxes and the topics of the other guarantee are left out by design. What else is refused, both guarantees are.
    private void OnTopic(PrefixTopic topic, Guarantee guarantee)
    {
        _lines.OnTopic(topic);
        bool isReported = topic.State == PrefixTopicState.Ended || (topic.State == PrefixTopicState.Refused && guarantee == Guarantees[0]);
        if (isReported && topic.Error is { } error
            && !InboxName.IsInbox(topic.Name) && !ContractMatch.IsOfAnsweredOrGuarantee(error.Message))
        {
            _logger.LogWarning("Topic \"{Topic}\" is not printed: {Reason}", topic.Name, error.Message);
        }
    }

    private void OnEnded(SubscriptionEnd end)
    {
        if (end is { Reason: SubscriptionEndReason.NodeExpelled, Error: { } error })
        {
            _failed.TrySetException(error);
        }
    }

    private async ValueTask WriteAsync(string topic, Message<ReadOnlyMemory<byte>> message)
    {
        // To the end, also when there is nowhere to write: what is left would be reported as messages that were not handled.
        if (_failed.Task.IsCompleted || lines.Output.IsFull)
        {
            return;
        }

        try
        {
            await _lines.WriteAsync(topic, message);
        }
        catch (Exception exception) when (exception is IOException or ToolException)
        {
            _failed.TrySetException(exception);
        }
    }

    // One at a time: the output may stand still.
    private void Flush()
    {
        if (Interlocked.Exchange(ref _isFlushing, 1) != 0)
        {
            return;
        }

        try
        {
            _lines.ForgetClosed();
            lines.Output.Flush();
        }
        catch (IOException exception)
        {
            _failed.TrySetException(exception);
        }
        finally
        {
            Volatile.Write(ref _isFlushing, 0);
        }
    }
}
