namespace QuickSilver.Multicast.Nodes;

// For how long a node's streams were limited, by what limited them: the sum over the streams. A stream reports when its limit changes,
// which is when a pull was refused or served, so it costs nothing per message. Idle streams count nowhere.
//
// Invariant: _ticks[i] is up to date at _since[i], and until now _streams[i] streams have the limit i.
//
// Written by the core thread. Any thread reads the ticks, which may be as old as the last change or the last call of BringUpToDate.
internal sealed class StreamLimitTimes
{
    public const int Count = (int)StreamLimit.Socket + 1;

    private readonly long[] _ticks = new long[Count];
    private readonly int[] _streams = new int[Count];
    private readonly TimeSpan[] _since = new TimeSpan[Count];

    /// <summary>The time for which streams had this limit, in ticks of 100 ns.</summary>
    public long TicksOf(StreamLimit limit) => Volatile.Read(ref _ticks[(int)limit]);

    /// <summary>The streams that have this limit now.</summary>
    public int StreamsOf(StreamLimit limit) => Volatile.Read(ref _streams[(int)limit]);

    public void Change(StreamLimit from, StreamLimit to, TimeSpan now)
    {
        Add(from, -1, now);
        Add(to, 1, now);
    }

    public void BringUpToDate(TimeSpan now)
    {
        for (int i = 1; i < Count; i++)
        {
            Add((StreamLimit)i, 0, now);
        }
    }

    private void Add(StreamLimit limit, int streams, TimeSpan now)
    {
        if (limit == StreamLimit.Idle)
        {
            return;
        }

        int i = (int)limit;
        Volatile.Write(ref _ticks[i], _ticks[i] + (_streams[i] * (now - _since[i]).Ticks));
        _since[i] = now;
        _streams[i] += streams;
    }
}
