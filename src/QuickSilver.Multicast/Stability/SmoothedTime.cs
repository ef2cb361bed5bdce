namespace QuickSilver.Multicast.Stability;

// A time that varies: its smoothed mean and how far it strays from that (as TCP does, RFC 6298).
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
