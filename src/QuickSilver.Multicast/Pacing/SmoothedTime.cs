namespace QuickSilver.Multicast.Pacing;

// The smoothed mean and the mean deviation of a time that varies (as in TCP, RFC 6298).
internal struct SmoothedTime
{
    public TimeSpan Mean { get; private set; }

    public TimeSpan MeanDeviation { get; private set; }

    public void Add(TimeSpan sample)
    {
        if (Mean == TimeSpan.Zero)
        {
            Mean = sample;
            MeanDeviation = sample / 2;
            return;
        }

        MeanDeviation += ((sample - Mean).Duration() - MeanDeviation) / 4;
        Mean += (sample - Mean) / 8;
    }
}
