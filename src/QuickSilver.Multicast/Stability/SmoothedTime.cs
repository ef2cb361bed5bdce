namespace QuickSilver.Multicast.Stability;

// The smoothed mean and the mean deviation of a time that varies (as in TCP, RFC 6298).
internal struct SmoothedTime
{
    public TimeSpan Mean { get; private set; }

    public TimeSpan Strays { get; private set; }

    public void Add(TimeSpan sample)
    {
        if (Mean == TimeSpan.Zero)
        {
            Mean = sample;
            Strays = sample / 2;
            return;
        }

        Strays += ((sample - Mean).Duration() - Strays) / 4;
        Mean += (sample - Mean) / 8;
    }
}
