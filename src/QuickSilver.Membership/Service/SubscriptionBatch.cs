namespace QuickSilver.Membership.Service;

// When the next configuration is made. The first change after a quiet time goes out almost at once, with what comes in
// the same moment; under a stream of changes one configuration gathers all that came since the last.
internal sealed class SubscriptionBatch(TimeSpan interval, TimeSpan quietDelay)
{
    private TimeSpan? _lastMade;

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
        Due = _lastMade is { } last && last + interval > soonest ? last + interval : soonest;
        return true;
    }

    public void OnMade(TimeSpan now)
    {
        _lastMade = now;
        Due = null;
    }
}
