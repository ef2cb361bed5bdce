namespace QuickSilver.Membership.Service.Configurations;

// When the next configuration is made.
//
// Intuition: a caller that waits for one change before it asks for the next should not wait long, and one that asks for thousands should
// cause few configurations. Application: the first change after a quiet time goes out almost at once, with what comes in the same moment.
// So do some that follow it, as long as each configuration has few changes. One with many changes is followed by a rest, and so is each of
// a stream that does not end: then one configuration gathers all that came since the last. After a large one, in bytes sent to all, the
// rest is longer: thousands of topics that are opened one by one change the same views with each batch, and each batch sends all of them.
// What goes wrong: the quick ones are used up (changes take an interval each, until there was quiet).
internal sealed class SubscriptionBatch(TimeSpan interval, TimeSpan quietDelay)
{
    private const double BytesPerSecond = 4e6;
    // What a few nodes ask for in one moment, each for one thing after another.
    private const int FewChanges = 8;
    // As many changes as a program asks for one after another when it starts. Each interval of quiet gives one back.
    private const int MostQuick = 32;
    private static readonly TimeSpan LongestRest = TimeSpan.FromSeconds(1);

    private TimeSpan? _lastMade;
    private TimeSpan _rest;
    private TimeSpan _leastRest;
    // In the batch that is collected.
    private int _changes;
    private int _quickLeft = MostQuick;

    /// <summary>When the batch is to be made; null while there is none.</summary>
    public TimeSpan? Due { get; private set; }

    /// <summary>Something changed. True when this began a batch.</summary>
    public bool Mark(TimeSpan now)
    {
        _changes++;
        if (Due is not null)
        {
            return false;
        }

        RegainQuick(now);
        var soonest = now + quietDelay;
        Due = _lastMade is { } last && last + _rest > soonest ? last + _rest : soonest;
        return true;
    }

    /// <summary>The batch is taken; what comes from now on is for the next.</summary>
    public void OnTaken(TimeSpan now)
    {
        bool isQuick = _changes <= Math.Min(FewChanges, _quickLeft);
        _quickLeft -= isQuick ? _changes : 0;
        _leastRest = isQuick ? TimeSpan.Zero : interval;
        _lastMade = now;
        _rest = _leastRest;
        _changes = 0;
        Due = null;
    }

    /// <summary>The configuration was sent in this many bytes to all members together.</summary>
    public void OnAnnounced(long bytes)
    {
        var rest = TimeSpan.FromSeconds(bytes / BytesPerSecond);
        _rest = rest < _leastRest ? _leastRest : rest < LongestRest ? rest : LongestRest;
    }

    private void RegainQuick(TimeSpan now)
    {
        if (_lastMade is { } last && now - last > interval)
        {
            _quickLeft = (int)Math.Min(MostQuick, _quickLeft + ((now - last - interval) / interval));
        }
    }
}
