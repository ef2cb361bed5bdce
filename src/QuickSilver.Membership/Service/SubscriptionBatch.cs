namespace QuickSilver.Membership.Service;

// When the next configuration is made. The first change after a quiet time goes out almost at once, with what comes in
// the same moment; under a stream of changes one configuration gathers all that came since the last. After a large one it
// waits longer: who opens topics by the thousand changes the same views with each batch, and each batch tells all of them.
internal sealed class SubscriptionBatch(TimeSpan interval, TimeSpan quietDelay)
{
    private const double BytesPerSecond = 4e6;
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(1);

    private TimeSpan? _lastMade;
    private TimeSpan _rest;

    /// <summary>When the batch is to be made; null while there is none.</summary>
    public TimeSpan? Due { get; private set; }

    /// <summary>Something changed. True when this began a batch.</summary>
    public bool Mark(TimeSpan now)
    {
        if (Due is not null)
        {
            return false;
        }

        var soonest = now + quietDelay;
        Due = _lastMade is { } last && last + _rest > soonest ? last + _rest : soonest;
        return true;
    }

    /// <summary>The batch is taken; what comes from now on is for the next.</summary>
    public void OnTaken(TimeSpan now)
    {
        _lastMade = now;
        _rest = interval;
        Due = null;
    }

    /// <summary>The configuration was told in so many bytes to all members together.</summary>
    public void OnTold(long bytes)
    {
        var rest = TimeSpan.FromSeconds(bytes / BytesPerSecond);
        _rest = rest < interval ? interval : rest < LongestRest ? rest : LongestRest;
    }
}
