namespace QuickSilver.Multicast.Receiving.Ports;

// The last sample of a count of kernel drops. Reading the kernel's counter may cost a system call, so it is not read for every token.
internal struct DropSample
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    // Zero: there was none.
    private TimeSpan _nextAt;

    /// <summary>The count at the last sample.</summary>
    public long Drops { get; private set; }

    /// <summary>Whether a sample is due, which the caller then takes.</summary>
    public bool IsDue(TimeSpan now)
    {
        if (now < _nextAt)
        {
            return false;
        }

        _nextAt = now + Interval;
        return true;
    }

    /// <summary>Notes a sample, and returns by how many drops it is above the one before it.</summary>
    public long Note(long drops)
    {
        long more = drops - Drops;
        Drops = drops;
        return more;
    }
}
