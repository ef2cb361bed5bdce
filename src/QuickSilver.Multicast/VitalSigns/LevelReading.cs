using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.VitalSigns;

// Writes to the counters what changes without an event: the ages of views and of the configuration, and the times of limits that last. The
// layer above calls it now and then, on the core thread.
internal sealed class LevelReading(MulticastContext context)
{
    private TimeSpan _configuredAt = context.Environment.Now;

    public void OnConfiguration(long number)
    {
        _configuredAt = context.Environment.Now;
        context.Counters.Configuration = number;
    }

    public void Note(IReadOnlyList<RegionReceiver> views)
    {
        var now = context.Environment.Now;
        var counters = context.Counters;
        counters.Limits.BringUpToDate(now);
        counters.ConfigurationAgeTicks = (now - _configuredAt).Ticks;
        int superseded = 0;
        var oldest = TimeSpan.Zero;
        for (int i = 0; i < views.Count; i++)
        {
            if (views[i].SupersededAt != 0)
            {
                superseded++;
                oldest = now - views[i].SupersededSince is var age && age > oldest ? age : oldest;
            }
        }

        (counters.OpenViews, counters.SupersededViews, counters.OldestSupersededTicks) = (views.Count, superseded, oldest.Ticks);
    }
}
