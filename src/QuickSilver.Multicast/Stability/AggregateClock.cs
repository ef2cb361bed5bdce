using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Stability;

// Measures how long the rings need to find out that all members hold a packet: from its arrival at the leader of a ring of level 0 until
// the result of each ring above, that this member leads too, covers it. So the time of the highest level is what passes until the sender
// has the result, waits between rounds included. The sum of the last rounds of all levels leaves those waits out.
//
// One packet at a time is measured, so the cost does not grow with the rate.
internal sealed class AggregateClock
{
    // A packet that no result covers for so long belongs to a sender that is gone.
    private static readonly TimeSpan Most = TimeSpan.FromMinutes(1);

    private StreamKey _stream;
    private long _number;
    private TimeSpan _arrivedAt;
    // The level whose result is awaited next.
    private int _level;

    /// <summary>Whether a packet is being measured, so that no other one is.</summary>
    public bool IsRunning { get; private set; }

    public void OnArrived(StreamKey stream, long number, TimeSpan now)
    {
        if (!IsRunning || now - _arrivedAt > Most)
        {
            (_stream, _number, _arrivedAt, _level, IsRunning) = (stream, number, now, 0, true);
        }
    }

    /// <summary>A round of the ring of this level is over. All members under it hold the stream's packets up to there.</summary>
    /// <param name="level">The ring's level.</param>
    /// <param name="isHighest">Whether this member has a seat in no higher ring.</param>
    /// <param name="stream">Whose packets.</param>
    /// <param name="heldByAll">The last packet that all hold.</param>
    /// <param name="now">The present time.</param>
    /// <param name="times">Where the time is counted.</param>
    public void OnResult(int level, bool isHighest, StreamKey stream, long heldByAll, TimeSpan now, RingTimes times)
    {
        if (IsRunning && level == _level && heldByAll >= _number && stream == _stream)
        {
            times.Add(level, now - _arrivedAt);
            _level++;
            IsRunning = !isHighest;
        }
    }

    /// <summary>The members have changed, and rings begin again.</summary>
    public void Reset() => IsRunning = false;
}
