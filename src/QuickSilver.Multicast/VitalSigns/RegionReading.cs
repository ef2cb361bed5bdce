using System.Runtime.InteropServices;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.VitalSigns;

// What this node reports of its regions when an observer watches: one row for each region that it sends to or is a member of. Rates are
// those since the last reading, so the counts of that reading are kept; nothing is kept or done while no observer watches.
internal sealed class RegionReading(NodeContext context)
{
    // Packets sent and received in the streams of each view and class, at the last reading and at this one. Received packets are counted
    // for all classes together.
    private Dictionary<(ulong Region, uint View, StreamClass Class), (long Sent, long Received)> _before = [];
    private Dictionary<(ulong Region, uint View, StreamClass Class), (long Sent, long Received)> _now = [];

    // In the order in which regions are first met, which does not depend on a hash.
    private readonly Dictionary<ulong, int> _byRegion = [];
    private readonly List<RegionSnapshot> _rows = [];

    /// <summary>Adds the busiest rows, at most so many.</summary>
    /// <param name="sent">The streams of this node.</param>
    /// <param name="views">The open views of which it is a member.</param>
    /// <param name="span">The time since the last reading; zero: there was none, and there are no rates.</param>
    /// <param name="most">The number of rows.</param>
    /// <param name="rows">Where to add them.</param>
    public void Read(
        IReadOnlyList<ISentStream> sent, IReadOnlyList<RegionReceiver> views, TimeSpan span, int most, List<RegionSnapshot> rows)
    {
        foreach (var stream in sent)
        {
            Add(stream, span);
        }

        foreach (var view in views)
        {
            Add(view, span);
        }

        (_before, _now) = (_now, _before);
        _now.Clear();
        _byRegion.Clear();
        rows.AddRange(_rows.OrderByDescending(static row => row.Load).ThenByDescending(static row => row.PendingPackets).Take(most));
        _rows.Clear();
    }

    private void Add(ISentStream stream, TimeSpan span)
    {
        ref var row = ref Row(stream.View.RegionId, stream.View.Number, stream.View.Members.Length);
        var key = (stream.View.RegionId, stream.View.Number, stream.Class);
        long count = stream.Through.Sent;
        CollectionsMarshal.GetValueRefOrAddDefault(_now, key, out _).Sent = count;
        long before = _before.GetValueOrDefault(key).Sent;
        row = row with
        {
            SentPackets = row.SentPackets + PerSecond(count - before, span),
            PendingPackets = row.PendingPackets + Math.Max(0, stream.Pending),
            WindowPackets = stream.SupersededAt == 0 ? stream.WindowPackets : row.WindowPackets,
            Limit = stream.Signs.Limit != StreamLimit.Idle ? (long)stream.Signs.Limit : row.Limit,
            AckMicros = stream.IsReliable && stream.SupersededAt == 0 ? Micros(stream.Signs.LastTimeToAcknowledge) : row.AckMicros,
        };
    }

    private void Add(RegionReceiver view, TimeSpan span)
    {
        ref var row = ref Row(view.View.RegionId, view.View.Number, view.View.Members.Length);
        long count = 0;
        long missing = 0;
        foreach (var stream in view.Streams)
        {
            count += stream.Arrived;
            missing += stream.IsReliable ? stream.Missing.TotalNumbers : 0;
        }

        var key = (view.View.RegionId, view.View.Number, StreamClass.Reliable);
        CollectionsMarshal.GetValueRefOrAddDefault(_now, key, out _).Received = count;
        long before = _before.GetValueOrDefault(key).Received;
        bool isCurrent = view.SupersededAt == 0;
        row = row with
        {
            OpenViews = row.OpenViews + 1,
            ReceivedPackets = row.ReceivedPackets + PerSecond(count - before, span),
            MissingPackets = row.MissingPackets + missing,
            ViewAgeMillis = isCurrent ? (long)(context.Environment.Now - view.OpenedAt).TotalMilliseconds : row.ViewAgeMillis,
            TokenMicros = isCurrent && view.Stability.LastExchange is var exchange && exchange > TimeSpan.Zero
                ? Micros(exchange)
                : row.TokenMicros,
        };
    }

    // A reference into the list, for at once: the next row may move it.
    private ref RegionSnapshot Row(ulong region, uint view, int members)
    {
        if (!_byRegion.TryGetValue(region, out int at))
        {
            at = _rows.Count;
            _byRegion.Add(region, at);
            _rows.Add(new RegionSnapshot(region));
        }

        ref var row = ref CollectionsMarshal.AsSpan(_rows)[at];
        row = view >= row.View ? row with { View = view, Members = members } : row;
        return ref row;
    }

    private static long PerSecond(long count, TimeSpan span) =>
        span > TimeSpan.Zero ? (long)Math.Round(Math.Max(0, count) / span.TotalSeconds) : 0;

    private static long Micros(TimeSpan time) => (long)time.TotalMicroseconds;
}
