namespace QuickSilver.Endpoints.Subscriptions;

// What few subscriptions have. There are thousands of idle topics, most of which have a handler and nothing else.
internal sealed class SubscriptionExtras
{
    private LeavingState? _leaving;

    /// <summary>Null if the reader may take any time.</summary>
    public SlowReaderWatch? Watch { get; init; }

    /// <summary>Under the topic's lock.</summary>
    public IEndObserver[] Observers { get; set; } = [];

    /// <summary>
    /// Under the topic's lock: those that have not ended. One that was stopped alone may still handle messages beside the next one.
    /// </summary>
    public IEndingConsumer[] Consumers { get; set; } = [];

    /// <summary>Null while the subscription continues.</summary>
    public LeavingState? KnownLeaving => Volatile.Read(ref _leaving);

    public LeavingState LeavingOrNew(TaskCreationOptions completions) =>
        LazyInitializer.EnsureInitialized(ref _leaving, () => new LeavingState(completions));
}

// An observer of the endpoint's messages, as the endpoint ends it.
internal interface IEndObserver
{
    /// <summary>Called when the endpoint has ended. <paramref name="error"/> is null if the application ended it.</summary>
    void End(Exception? error);
}

// A consumer of the endpoint's messages, as the endpoint ends it. Any thread.
internal interface IEndingConsumer
{
    /// <summary>The buffer's messages were dropped: those that the consumer has taken are not handled either.</summary>
    void OnDiscarded();

    /// <summary>What is not handled, but for what earlier calls returned. The caller reports it.</summary>
    UnhandledMessages TakeUnreported();
}
