using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Alarms;

namespace QuickSilver.Microbenchmarks.Alarms;

// Two loads over a standing set of alarms: each fires and is set again (a wheel of periodic ones), and each is moved long
// before it fires (what timeouts do). A heap cannot move an entry: it queues another and drops the stale one when it comes
// up, as here.
[MemoryDiagnoser]
public class AlarmQueueBenchmarks
{
    private const int OperationsPerInvoke = 1024;

    private readonly AlarmQueue _alarms = new();
    private readonly PriorityQueue<Entry, (TimeSpan Due, ulong Order)> _heap = new();
    private Alarm[] _alarmObjects = [];
    private Entry[] _entries = [];
    private uint _state;
    private long _now;
    private ulong _order;

    [Params(16, 1024, 65536)]
    public int Pending { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _state = 1;
        _alarmObjects = Enumerable.Range(0, Pending).Select(_ => new Alarm(() => { })).ToArray();
        _entries = Enumerable.Range(0, Pending).Select(_ => new Entry()).ToArray();
        for (int i = 0; i < Pending; i++)
        {
            long due = Delay();
            _alarms.Schedule(_alarmObjects[i], TimeSpan.FromTicks(due));
            Set(_entries[i], TimeSpan.FromTicks(due));
        }
    }

    [Benchmark(OperationsPerInvoke = OperationsPerInvoke)]
    public void FireAndSetAgainAlarmQueue()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            _alarms.TryPeekDue(out var due);
            var alarm = _alarms.TakeDue(due)!;
            _alarms.Schedule(alarm, due + TimeSpan.FromTicks(Delay()));
        }
    }

    [Benchmark(OperationsPerInvoke = OperationsPerInvoke)]
    public void FireAndSetAgainPriorityQueue()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            var (entry, due) = TakeLive();
            Set(entry, due + TimeSpan.FromTicks(Delay()));
        }
    }

    // The clock moves with the work, so that the heap's stale entries do come up.
    [Benchmark(OperationsPerInvoke = OperationsPerInvoke)]
    public void MoveAlarmQueue()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            var now = TimeSpan.FromTicks(_now += 8);
            _alarms.Schedule(_alarmObjects[Next() % (uint)Pending], now + TimeSpan.FromTicks(Delay()));
            while (_alarms.TakeDue(now) is { } alarm)
            {
                _alarms.Schedule(alarm, now + TimeSpan.FromTicks(Delay()));
            }
        }
    }

    [Benchmark(OperationsPerInvoke = OperationsPerInvoke)]
    public void MovePriorityQueue()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            var now = TimeSpan.FromTicks(_now += 8);
            Set(_entries[Next() % (uint)Pending], now + TimeSpan.FromTicks(Delay()));
            while (_heap.TryPeek(out var entry, out var key) && key.Due <= now)
            {
                _heap.Dequeue();
                if (entry.Order == key.Order)
                {
                    Set(entry, now + TimeSpan.FromTicks(Delay()));
                }
            }
        }
    }

    private (Entry Entry, TimeSpan Due) TakeLive()
    {
        while (true)
        {
            _heap.TryDequeue(out var entry, out var key);
            if (entry!.Order == key.Order)
            {
                return (entry, key.Due);
            }
        }
    }

    private void Set(Entry entry, TimeSpan due)
    {
        entry.Order = ++_order;
        _heap.Enqueue(entry, (due, entry.Order));
    }

    private long Delay() => 1 + Next() % 1_000_000;

    private uint Next()
    {
        _state ^= _state << 13;
        _state ^= _state >> 17;
        return _state ^= _state << 5;
    }

    private sealed class Entry
    {
        public ulong Order;
    }
}
