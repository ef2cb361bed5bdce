using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using QuickSilver.Core.Alarms;

namespace QuickSilver.Microbenchmarks.Alarms;

// Three loads over a standing set of alarms, with the delays that a node sets. Fire: the earliest fires and is set again,
// as the timers of rings and announcements. Move: one of a favoured few is moved, mostly before it is due, the clock advances
// by 10 microseconds, and what is due fires and is set again. Cancel: the same, but that an alarm is set beside the
// others and taken back. After each step the next due instant is asked for, as the core thread does each turn.
//
// PriorityQueue cannot move an entry where it lies: it queues another and drops the stale one when it comes up. So stale
// ones count.
[MemoryDiagnoser]
[GroupBenchmarksBy(BenchmarkLogicalGroupRule.ByCategory)]
[CategoriesColumn]
public class AlarmQueueBenchmarks
{
    private const int Steps = 1024;
    private const long TicksPerStep = 100;

    // 250 us, 1 ms, 5 ms, 25 ms, 250 ms and 1 s, in ticks of 100 ns.
    private static readonly long[] Delays = [2_500, 10_000, 50_000, 250_000, 2_500_000, 10_000_000];

    private readonly AlarmQueue _tree = new();
    private readonly PriorityQueue<HeapEntry, (long Due, ulong Order)> _heap = new();
    private readonly IndexedHeap _indexed = new();
    private readonly HashedWheel _wheel = new();
    private Alarm[] _alarms = [];
    private HeapEntry[] _heapEntries = [];
    private IndexedHeap.Entry[] _indexedEntries = [];
    private HashedWheel.Entry[] _wheelEntries = [];
    private uint _state;
    private long _now;
    private ulong _order;

    [Params(1, 100, 10_000)]
    public int Pending { get; set; }

    // One more than stand: the last is the one that is set and taken back.
    [GlobalSetup]
    public void Setup()
    {
        _state = 1;
        _alarms = Enumerable.Range(0, Pending + 1).Select(_ => new Alarm(() => { })).ToArray();
        _heapEntries = Enumerable.Range(0, Pending + 1).Select(_ => new HeapEntry()).ToArray();
        _indexedEntries = Enumerable.Range(0, Pending + 1).Select(_ => new IndexedHeap.Entry()).ToArray();
        _wheelEntries = Enumerable.Range(0, Pending + 1).Select(_ => new HashedWheel.Entry()).ToArray();
        for (int i = 0; i < Pending; i++)
        {
            long due = Delay();
            _tree.Schedule(_alarms[i], TimeSpan.FromTicks(due));
            Set(_heapEntries[i], due);
            _indexed.Schedule(_indexedEntries[i], due);
            _wheel.Schedule(_wheelEntries[i], due);
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Fire")]
    public void FireSplayTree()
    {
        for (int i = 0; i < Steps; i++)
        {
            _tree.TryPeekDue(out var due);
            _tree.Schedule(_tree.TakeDue(due)!, due + TimeSpan.FromTicks(Delay()));
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Fire")]
    public void FireHeap()
    {
        for (int i = 0; i < Steps; i++)
        {
            long due = PeekHeap();
            Set(_heap.Dequeue(), due + Delay());
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Fire")]
    public void FireIndexedHeap()
    {
        for (int i = 0; i < Steps; i++)
        {
            _indexed.TryPeekDue(out long due);
            _indexed.Schedule(_indexed.TakeDue(due)!, due + Delay());
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Fire")]
    public void FireWheel()
    {
        for (int i = 0; i < Steps; i++)
        {
            _wheel.TryPeekDue(out long due);
            _wheel.Schedule(_wheel.TakeDue(due)!, due + Delay());
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Move")]
    public long MoveSplayTree()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            var now = TimeSpan.FromTicks(_now += TicksPerStep);
            _tree.Schedule(_alarms[Favoured()], now + TimeSpan.FromTicks(Delay()));
            while (_tree.TakeDue(now) is { } alarm)
            {
                _tree.Schedule(alarm, now + TimeSpan.FromTicks(Delay()));
            }

            _tree.TryPeekDue(out var due);
            sum += due.Ticks;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Move")]
    public long MoveHeap()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            Set(_heapEntries[Favoured()], _now + Delay());
            long due;
            while ((due = PeekHeap()) <= _now)
            {
                Set(_heap.Dequeue(), _now + Delay());
            }

            sum += due;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Move")]
    public long MoveIndexedHeap()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            _indexed.Schedule(_indexedEntries[Favoured()], _now + Delay());
            while (_indexed.TakeDue(_now) is { } entry)
            {
                _indexed.Schedule(entry, _now + Delay());
            }

            _indexed.TryPeekDue(out long due);
            sum += due;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Move")]
    public long MoveWheel()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            _wheel.Schedule(_wheelEntries[Favoured()], _now + Delay());
            while (_wheel.TakeDue(_now) is { } entry)
            {
                _wheel.Schedule(entry, _now + Delay());
            }

            _wheel.TryPeekDue(out long due);
            sum += due;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Cancel")]
    public long CancelSplayTree()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            var now = TimeSpan.FromTicks(_now += TicksPerStep);
            _tree.Schedule(_alarms[Pending], now + TimeSpan.FromTicks(Delay()));
            _tree.Cancel(_alarms[Pending]);
            while (_tree.TakeDue(now) is { } alarm)
            {
                _tree.Schedule(alarm, now + TimeSpan.FromTicks(Delay()));
            }

            _tree.TryPeekDue(out var due);
            sum += due.Ticks;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Cancel")]
    public long CancelHeap()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            Set(_heapEntries[Pending], _now + Delay());
            _heapEntries[Pending].Order = 0;
            long due;
            while ((due = PeekHeap()) <= _now)
            {
                Set(_heap.Dequeue(), _now + Delay());
            }

            sum += due;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Cancel")]
    public long CancelIndexedHeap()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            _indexed.Schedule(_indexedEntries[Pending], _now + Delay());
            _indexed.Cancel(_indexedEntries[Pending]);
            while (_indexed.TakeDue(_now) is { } entry)
            {
                _indexed.Schedule(entry, _now + Delay());
            }

            _indexed.TryPeekDue(out long due);
            sum += due;
        }

        return sum;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Cancel")]
    public long CancelWheel()
    {
        long sum = 0;
        for (int i = 0; i < Steps; i++)
        {
            _now += TicksPerStep;
            _wheel.Schedule(_wheelEntries[Pending], _now + Delay());
            _wheel.Cancel(_wheelEntries[Pending]);
            while (_wheel.TakeDue(_now) is { } entry)
            {
                _wheel.Schedule(entry, _now + Delay());
            }

            _wheel.TryPeekDue(out long due);
            sum += due;
        }

        return sum;
    }

    // When the earliest live entry is due; drops the stale ones before it.
    private long PeekHeap()
    {
        while (true)
        {
            _heap.TryPeek(out var entry, out var key);
            if (entry!.Order == key.Order)
            {
                return key.Due;
            }

            _heap.Dequeue();
        }
    }

    private void Set(HeapEntry entry, long due)
    {
        entry.Order = ++_order;
        _heap.Enqueue(entry, (due, entry.Order));
    }

    // Seven of eight moves are of the first sixteen.
    private uint Favoured() => Next() % (uint)((Next() & 7) == 0 ? Pending : Math.Min(Pending, 16));

    private long Delay() => Delays[Next() % (uint)Delays.Length] + (Next() & 1023);

    private uint Next()
    {
        _state ^= _state << 13;
        _state ^= _state >> 17;
        return _state ^= _state << 5;
    }

    private sealed class HeapEntry
    {
        public ulong Order;
    }
}
