using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Nodes.Measures;

// How fast a node publishes and delivers now, and what limits it most: over the time between two pulses of the core thread, which writes
// them. Any thread reads them.
internal sealed class NodeRates(NodeCounterCells cells)
{
    // Null until a stream was limited.
    private long[]? _limitTicks;
    private TimeSpan? _since;
    private long _published;
    private long _delivered;

    public double PublishedPerSecond { get; private set; }

    public double DeliveredPerSecond { get; private set; }

    public SendLimit Limit { get; private set; }

    public double LimitShare { get; private set; }

    public void Note(TimeSpan now, StreamLimitTimes? limits)
    {
        double seconds = _since is { } since ? (now - since).TotalSeconds : 0;
        if (seconds > 0)
        {
            PublishedPerSecond = (cells.Published - _published) / seconds;
            DeliveredPerSecond = (cells.Delivered - _delivered) / seconds;
        }

        (_since, _published, _delivered) = (now, cells.Published, cells.Delivered);
        NoteLimits(limits, seconds);
    }

    private void NoteLimits(StreamLimitTimes? limits, double seconds)
    {
        if (limits is null)
        {
            return;
        }

        _limitTicks ??= new long[StreamLimitTimes.Count];
        var (greatest, most) = (StreamLimit.Idle, 0L);
        for (int i = 1; i < StreamLimitTimes.Count; i++)
        {
            long ticks = limits.TicksOf((StreamLimit)i);
            if (ticks - _limitTicks[i] > most)
            {
                (greatest, most) = ((StreamLimit)i, ticks - _limitTicks[i]);
            }

            _limitTicks[i] = ticks;
        }

        Limit = Readings.Of(greatest);
        LimitShare = seconds > 0 ? TimeSpan.FromTicks(most).TotalSeconds / seconds : 0;
    }
}
