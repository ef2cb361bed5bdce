using QuickSilver.Membership.Snapshots;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.VitalSigns;

// What is read of a node's streams and views from time to time: what changes without an event, such as the ages of views and of the
// configuration, and the rows of its regions when an observer watches. On the core thread, unless stated otherwise.
internal sealed class VitalReadings(
    NodeContext context, RetentionBudget retention, ISentStreams sent, IReadOnlyList<RegionReceiver> views)
{
    private TimeSpan _configuredAt = context.Environment.Now;
    // Null until an observer watches.
    private RegionReading? _regions;

    /// <summary>The bytes that are kept because not all members are known to hold them. May be read on any thread.</summary>
    public long UnackedBytes => Volatile.Read(ref retention.Bytes);

    /// <summary>The packets that are packed, and that not all members are known to hold. May be read on any thread.</summary>
    public long PendingPackets => Volatile.Read(ref retention.Packets);

    public void OnConfiguration(long number)
    {
        _configuredAt = context.Environment.Now;
        context.Counters.Configuration = number;
        context.Counters.ConfigurationsApplied++;
    }

    /// <summary>Writes ages, and times of limits that last, to the counters.</summary>
    public void NoteTimes()
    {
        var now = context.Environment.Now;
        var counters = context.Counters;
        counters.LimitsIfAny?.BringUpToDate(now);
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

    /// <summary>Adds the busiest regions, at most so many; 0: no observer watches any more.</summary>
    public void ReadRegions(TimeSpan span, int most, List<RegionSnapshot> rows)
    {
        if (most > 0)
        {
            (_regions ??= new RegionReading(context)).Read(sent.Streams, views, span, most, rows);
        }
        else
        {
            _regions = null;
        }
    }
}
