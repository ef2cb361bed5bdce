using System.Collections.Immutable;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Diagnostics;

// Snapshots for users of what the layers below count. From any thread.
internal static class Readings
{
    public static TimeHistogram Of(DurationHistogram? cells)
    {
        if (cells is null)
        {
            return TimeHistogram.Empty;
        }

        var counts = ImmutableArray.CreateBuilder<long>(TimeHistogram.Classes);
        for (int i = 0; i < DurationHistogram.Classes; i++)
        {
            counts.Add(cells.CountOf(i));
        }

        return new TimeHistogram(counts.DrainToImmutable(), cells.Total);
    }

    public static ImmutableArray<TimeHistogram> Of(RingTimes cells)
    {
        var levels = ImmutableArray.CreateBuilder<TimeHistogram>(RingTimes.Levels);
        for (int i = 0; i < RingTimes.Levels; i++)
        {
            levels.Add(Of(cells.At(i)));
        }

        return levels.DrainToImmutable();
    }

    public static SendLimit Of(StreamLimit limit) => (SendLimit)limit;

    public static SendLimitTimes Of(StreamLimitTimes cells) => new()
    {
        Turn = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Turn)),
        Window = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Window)),
        Rate = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Rate)),
        Reader = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Reader)),
        Memory = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Memory)),
        View = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.View)),
        Socket = TimeSpan.FromTicks(cells.TicksOf(StreamLimit.Socket)),
    };

    public static CoreThreadTimes Of(CoreCounters core)
    {
        return new CoreThreadTimes
        {
            InboundControl = Queue(WorkClass.InboundControl),
            InboundRepairs = Queue(WorkClass.InboundRepair),
            InboundData = Queue(WorkClass.InboundData),
            Alarms = TimeSpan.FromTicks(Volatile.Read(ref core.AlarmTicks)),
            Requests = TimeSpan.FromTicks(Volatile.Read(ref core.RequestTicks)),
            OutboundControl = Queue(WorkClass.OutboundControl),
            OutboundData = Queue(WorkClass.OutboundData),
            Disk = Queue(WorkClass.Disk),
            Other = Queue(WorkClass.Other),
        };

        TimeSpan Queue(WorkClass workClass) => TimeSpan.FromTicks(Volatile.Read(ref core.QueueTicks[(int)workClass]));
    }
}
