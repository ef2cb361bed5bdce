namespace QuickSilver;

/// <summary>
/// What a way to receive returns: a handler, a consumer, a prefix of topics, or a responder. Thread-safe.
/// </summary>
/// <remarks>
/// It is disposed as a <c>Timer</c> is: <see cref="IDisposable.Dispose"/> ends it and returns at once, while a call that runs
/// completes; <see cref="IAsyncDisposable.DisposeAsync"/> ends it, too, and waits for the calls that run. Do not wait for the latter in a
/// handler that runs inline: the core thread would wait for itself.
/// </remarks>
public interface ISubscription : IDisposable, IAsyncDisposable
{
    /// <summary>
    /// Completes when nothing comes any more and the last call has returned, with the reason. It never fails: the exception is in its
    /// result.
    /// </summary>
    Task<SubscriptionEnd> Completion { get; }

    /// <summary>Whether nothing comes any more and the last call has returned.</summary>
    bool HasEnded => Completion.IsCompleted;
}
