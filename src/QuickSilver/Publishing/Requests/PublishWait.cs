using System.Threading.Tasks.Sources;

namespace QuickSilver.Publishing.Requests;

// A publisher that waits for room. It is pooled if its call has no cancellation token: then exactly one party completes it and exactly one
// await consumes it. With a token it is used once, because a cancellation that is already in progress would otherwise affect the next user
// of the object.
internal sealed class PublishWait(PublishRequestPool? pool) : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };
    private CancellationTokenRegistration _registration;

    public ValueTask Task => new(this, _core.Version);

    /// <summary>The gate whose line contains the request, and the request. A cancellation reads them under the gate's lock.</summary>
    public PublishGate? Gate { get; set; }

    public PublishRequest? Request { get; set; }

    /// <summary>
    /// Whether a waiter continues in the context in which it began to wait, even if it did not ask for that, as AsTask does not: in a
    /// simulation, everything else would be outside of its time.
    /// </summary>
    public bool ResumesInContext { get; set; }

    public void WatchFor(CancellationToken cancellationToken) =>
        _registration = cancellationToken.UnsafeRegister(
            static (state, token) => ((PublishWait)state!).OnCancelled(token), this);

    /// <summary>
    /// Called by the thread that took the request out of the line, with or without the gate's lock. Continuations run on other threads.
    /// </summary>
    public void Complete() => _core.SetResult(true);

    public void Fail(Exception exception) => _core.SetException(exception);

    void IValueTaskSource.GetResult(short token)
    {
        try
        {
            _core.GetResult(token);
        }
        finally
        {
            _registration.Dispose();
            if (pool is not null)
            {
                Gate = null;
                Request = null;
                _core.Reset();
                pool.Return(this);
            }
        }
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(
            continuation, state, token, ResumesInContext ? flags | ValueTaskSourceOnCompletedFlags.UseSchedulingContext : flags);

    private void OnCancelled(CancellationToken token) => Gate!.Withdraw(this, token);
}
