using QuickSilver.Core.Background;
using QuickSilver.Hosting.Consumption;

namespace QuickSilver.Hosting.Patterns;

// A consumer of all topics whose names begin alike. It is opened on each node in turn.
internal sealed class HostedPrefix<T, TConsumer>(
    string prefix, PrefixOptions<T> options, ScopedConsumer<T, TConsumer> consumer)
    : HostedPart<ITopicPrefix>(prefix), IAsyncDisposable, IDisposable
    where TConsumer : class, IConsumer<T>
{
    private readonly Lock _lock = new();
    // The topics whose consumers have stopped because of an error and have not been opened again. Those of a prefix are bounded.
    private readonly Dictionary<string, (DateTimeOffset Since, Exception Error)> _ended = new(StringComparer.Ordinal);
    private readonly HashSet<string> _open = new(StringComparer.Ordinal);

    public override bool IsForConsumer => true;

    public override (DateTimeOffset Since, string InWords)? ConsumerFault
    {
        get
        {
            lock (_lock)
            {
                return IsOpen && _ended.Count > 0 ? InWords(_ended.MinBy(static one => one.Value.Since)) : null;
            }
        }
    }

    // It takes no more messages, and handles those that it has.
    public override async Task<int> StopConsumersAsync(CancellationToken cancellationToken)
    {
        bool isConsuming;
        lock (_lock)
        {
            isConsuming = _open.Count > 0;
        }

        if (Current is null && !isConsuming)
        {
            return 0;
        }

        try
        {
            // The first topics have messages before the last one is open, and the prefix with it.
            var current = Current ?? await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            await current.DisposeAsync().AsTask().WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            // The end of a prefix waits for its consumers for a moment only. A host has more time for them.
            await current.Completion.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            return 0;
        }
        catch (OperationCanceledException)
        {
            return 1;
        }
        catch (Exception exception) when (exception is QuickSilverException or ObjectDisposedException)
        {
            // It could not be opened, and its consumers have ended with it.
            return 0;
        }
    }

    public override void OnNodeLost()
    {
        base.OnNodeLost();
        lock (_lock)
        {
            _open.Clear();
        }
    }

    public ValueTask DisposeAsync() => consumer.DisposeAsync();

    // For a container that is not disposed asynchronously.
    public void Dispose() => _ = consumer.DisposeAsync().AsTask();

    protected override Task<ITopicPrefix> OpenOnAsync(QuickSilverNode node, CancellationToken cancellationToken)
    {
        lock (_lock)
        {
            _ended.Clear();
        }

        var all = options.Copy();
        all.Consumer = consumer.Options;
        all.OnTopic = OnTopic;
        return node.OpenPrefixAsync<T>(
            Name,
            (_, message, cancelled) => consumer.ConsumeAsync(message, cancelled),
            all,
            cancellationToken);
    }

    private static (DateTimeOffset Since, string InWords) InWords(KeyValuePair<string, (DateTimeOffset Since, Exception Error)> ended) => (
        ended.Value.Since,
        $"The consumer {typeof(TConsumer)} of topic \"{ended.Key}\" ({typeof(T)}) has stopped: {ended.Value.Error.Message}");

    private void OnTopic(PrefixTopic topic)
    {
        lock (_lock)
        {
            _ = topic.State is PrefixTopicState.Opening or PrefixTopicState.Open ? _open.Add(topic.Name) : _open.Remove(topic.Name);
            if (topic is { State: PrefixTopicState.Ended, Error: { } error })
            {
                _ended[topic.Name] = (Time.GetUtcNow(), error);
            }
            else
            {
                _ended.Remove(topic.Name);
            }
        }

        options.OnTopic?.Invoke(topic);
    }
}
