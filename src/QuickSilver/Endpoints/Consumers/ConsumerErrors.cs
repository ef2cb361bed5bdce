namespace QuickSilver;

/// <summary>What a consumer does when it throws an exception on a message. Immutable.</summary>
/// <example><code>OnError = ConsumerErrors.Retry(3, TimeSpan.FromMilliseconds(100)).ThenStop()</code></example>
public sealed class ConsumerErrors
{
    private const int MostRetries = 1000;
    private static readonly TimeSpan LongestBackoff = TimeSpan.FromDays(1);
    private static readonly TimeSpan DefaultLongestBackoff = TimeSpan.FromSeconds(30);

    private readonly TimeSpan _backoff;
    private readonly TimeSpan _longest;

    internal ConsumerErrors(int retries, TimeSpan backoff, TimeSpan longest, bool stopsConsumer)
    {
        Retries = retries;
        _backoff = backoff;
        _longest = longest;
        StopsConsumer = stopsConsumer;
    }

    /// <summary>
    /// The default. The message is logged, counted and passed to <see cref="ConsumerOptions{T}.OnDeadLetter"/>, and the next one is
    /// handled.
    /// </summary>
    public static ConsumerErrors Skip { get; } = new(0, TimeSpan.Zero, TimeSpan.Zero, stopsConsumer: false);

    /// <summary>
    /// The consumer ends with <see cref="SubscriptionEndReason.ConsumerFailed"/> and takes no more messages. The endpoint stays open.
    /// </summary>
    public static ConsumerErrors Stop { get; } = new(0, TimeSpan.Zero, TimeSpan.Zero, stopsConsumer: true);

    internal int Retries { get; }

    internal bool StopsConsumer { get; }

    /// <summary>
    /// The consumer is called again with the same message. Meanwhile later messages of the same order wait: all of them if
    /// <see cref="ConsumerOptions{T}.Concurrency"/> is 1, and those of the same worker otherwise.
    /// </summary>
    /// <param name="retries">The maximum number of further calls: 1 to 1,000.</param>
    /// <param name="backoff">The wait before the first of them: 0 to 24 hours. It doubles with each further one.</param>
    /// <param name="longestBackoff">
    /// The longest wait: from <paramref name="backoff"/> to 24 hours. Default: 30 s, or the first wait if that is longer.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">A parameter is out of its range.</exception>
    public static ConsumerRetries Retry(int retries, TimeSpan backoff, TimeSpan? longestBackoff = null)
    {
        if (retries is < 1 or > MostRetries)
        {
            throw new ArgumentOutOfRangeException(nameof(retries), retries, "The number of retries must be 1 to 1,000.");
        }

        if (backoff < TimeSpan.Zero || backoff > LongestBackoff)
        {
            throw new ArgumentOutOfRangeException(nameof(backoff), backoff, "The wait before a retry must be 0 to 24 hours.");
        }

        var longest = longestBackoff ?? (backoff > DefaultLongestBackoff ? backoff : DefaultLongestBackoff);
        if (longest < backoff || longest > LongestBackoff)
        {
            throw new ArgumentOutOfRangeException(
                nameof(longestBackoff), longestBackoff, "The longest wait before a retry must be from the first wait to 24 hours.");
        }

        return new ConsumerRetries(retries, backoff, longest);
    }

    /// <summary>The wait before the next call, after so many.</summary>
    internal TimeSpan DelayAfter(int attempts)
    {
        double delay = _backoff.Ticks * Math.Pow(2, attempts - 1);
        return delay < _longest.Ticks ? TimeSpan.FromTicks((long)delay) : _longest;
    }
}

/// <summary>Retries of a consumer, to be completed by what happens when they are used up.</summary>
public sealed class ConsumerRetries
{
    private readonly int _retries;
    private readonly TimeSpan _backoff;
    private readonly TimeSpan _longest;

    internal ConsumerRetries(int retries, TimeSpan backoff, TimeSpan longest)
    {
        _retries = retries;
        _backoff = backoff;
        _longest = longest;
    }

    /// <summary>Then the message is skipped, as by <see cref="ConsumerErrors.Skip"/>.</summary>
    public ConsumerErrors ThenSkip() => new(_retries, _backoff, _longest, stopsConsumer: false);

    /// <summary>Then the consumer ends, as by <see cref="ConsumerErrors.Stop"/>.</summary>
    public ConsumerErrors ThenStop() => new(_retries, _backoff, _longest, stopsConsumer: true);
}
