using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Publishing;

// A publish call that completes when the message is stable. One object per call is acceptable, because the call waits for a round trip
// through a whole region anyway.
internal sealed class StableCompletion : TaskCompletionSource, IStabilityObserver
{
    private readonly PublishLatency _latency;
    private TimeSpan _takenAt;

    public StableCompletion(PublishLatency latency, TaskCreationOptions completions)
        : base(completions)
    {
        _latency = latency;
    }

    // Links of the endpoint's StableList; core thread only.
    internal StableCompletion? Next { get; set; }
    internal StableCompletion? Previous { get; set; }
    internal StableList? List { get; set; }

    /// <summary>Whether the call ended before the message was sent. The message is then not sent at all.</summary>
    public bool IsWithdrawn => Task.IsCompleted;

    /// <summary>
    /// Waits until the message is stable, the caller cancels, or the node ends and no result can come any more. Continues where
    /// NodeCore.ResumesInContext specifies.
    /// </summary>
    public async Task WaitAsync(bool inContext, CancellationToken cancellationToken, CancellationToken ended)
    {
        using var givenUp = cancellationToken.UnsafeRegister(
            static (state, token) => ((StableCompletion)state!).TrySetCanceled(token), this);
        using var over = ended.UnsafeRegister(
            static state => ((StableCompletion)state!).TrySetException(AfterDispose.OfNode()), this);
        await Task.ConfigureAwait(inContext);
    }

    public void Begin(TimeSpan now) => _takenAt = now;

    public void OnStable(long sequence)
    {
        List?.Remove(this);
        _latency.Record(_takenAt);
        TrySetResult();
    }

    public void OnAbandoned(long sequence, string reason) =>
        Fail(new InvalidOperationException($"Message {sequence} cannot become stable: {reason}."));

    public void Fail(Exception exception)
    {
        List?.Remove(this);
        if (exception is OperationCanceledException)
        {
            TrySetCanceled();
        }
        else
        {
            TrySetException(exception);
        }
    }
}

// The publish calls of one endpoint whose messages were sent and are not yet stable. Core thread only.
internal sealed class StableList
{
    private StableCompletion? _first;

    public bool IsEmpty => _first is null;

    public void Add(StableCompletion completion)
    {
        completion.List = this;
        completion.Next = _first;
        if (_first is not null)
        {
            _first.Previous = completion;
        }

        _first = completion;
    }

    public void Remove(StableCompletion completion)
    {
        if (completion.Previous is { } previous)
        {
            previous.Next = completion.Next;
        }
        else
        {
            _first = completion.Next;
        }

        if (completion.Next is { } next)
        {
            next.Previous = completion.Previous;
        }

        completion.List = null;
        completion.Next = null;
        completion.Previous = null;
    }

    public void FailAll(Exception exception)
    {
        while (_first is { } completion)
        {
            completion.Fail(exception);
        }
    }
}
