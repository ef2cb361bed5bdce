namespace QuickSilver.Publishing;

// When the publishers that wait for room are woken. Usually that is when much of it is free, so that a publisher that has waited once can
// then publish thousands of messages. A topic that is held to the rate of a slow reader may need many seconds for that, so its publishers
// are also woken with whatever room there is, at most once in each interval: they go on in small steps. Core thread only.
internal struct WakeTimes
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);

    private TimeSpan _wokenAt;

    /// <summary>Called when room was released for publishers that wait: whether they are woken with whatever room there is.</summary>
    /// <param name="now">The time of the node's environment.</param>
    /// <param name="hasMuchRoom">Whether they are woken in any case.</param>
    public bool IsDue(TimeSpan now, bool hasMuchRoom)
    {
        bool isDue = now - _wokenAt >= Interval;
        if (isDue || hasMuchRoom)
        {
            _wokenAt = now;
        }

        return isDue;
    }
}
