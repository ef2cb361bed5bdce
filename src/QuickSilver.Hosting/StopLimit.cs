using QuickSilver.Hosting.Configuration;

namespace QuickSilver.Hosting;

// When the host has begun to stop: before the first of its services stops, whichever that is. Thread-safe.
internal sealed class StopClock(TimeProvider time)
{
    private long _began;

    public TimeSpan Elapsed => Volatile.Read(ref _began) is var began and > 0 ? time.GetElapsedTime(began) : TimeSpan.Zero;

    public void Begin() => Interlocked.CompareExchange(ref _began, Math.Max(1, time.GetTimestamp()), 0);
}

// How long a node is drained when its host stops. All services of a host share the host's time, one after the other: consumers and other
// services have used some of it, other nodes are still to be drained, and each node takes up to a second to leave its cluster. A process
// that uses more may be killed, and a killed process reports nothing.
internal sealed class StopLimit
{
    private const double LargestShareToLeave = 0.25;
    private static readonly TimeSpan TimeToLeave = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Longest = TimeSpan.FromDays(1);

    /// <param name="drainLimit">What the options say; null: as long as the host allows.</param>
    /// <param name="shutdownTimeout">How long the host waits for its services, from the beginning of the stop on.</param>
    /// <param name="elapsed">How long ago that was.</param>
    /// <param name="nodesLeft">How many nodes of the host are still to be drained, this one included.</param>
    public StopLimit(TimeSpan? drainLimit, TimeSpan shutdownTimeout, TimeSpan elapsed, int nodesLeft)
    {
        if (drainLimit is { } limit)
        {
            Drain = limit;
            Remedy = $"To wait longer, raise {Option}, which is {limit:c}.";
            return;
        }

        var allowed = shutdownTimeout < TimeSpan.Zero || shutdownTimeout > Longest ? Longest : shutdownTimeout;
        var reserve = allowed * LargestShareToLeave < TimeToLeave ? allowed * LargestShareToLeave : TimeToLeave;
        var left = allowed - reserve - elapsed;
        Drain = left <= TimeSpan.Zero ? TimeSpan.Zero : left / Math.Max(1, nodesLeft);
        Remedy = $"To wait longer, raise HostOptions.ShutdownTimeout, which is {allowed:c}.";
    }

    /// <summary>How long the node is drained.</summary>
    public TimeSpan Drain { get; }

    /// <summary>What makes it longer, as a sentence.</summary>
    public string Remedy { get; }

    private static string Option => $"{ConfigurationKeys.Hosting}:{nameof(QuickSilverHostingOptions.DrainLimit)}";
}
