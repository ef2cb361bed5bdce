using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.Wire;

// What a stream's receiver does with the set of what it lacks, in a window of 65,536 packets with some gaps of four.
// Repair: a new gap is found at the end and the oldest is filled, number by number (an operation is one gap). Look: is this
// number missing? List: the first 64 gaps from the oldest on, as a pull asks for them, and with them the oldest missing.
[MemoryDiagnoser]
[GroupBenchmarksBy(BenchmarkLogicalGroupRule.ByCategory)]
[CategoriesColumn]
public class SequenceRangesBenchmarks
{
    private const int Window = 1 << 16;
    private const int GapNumbers = 4;
    private const int Steps = 1024;
    private const int Listed = 64;

    private readonly SequenceRanges _ranges = new(Window);
    private readonly SortedSet<long> _sorted = [];
    private readonly SequenceBitmap _bitmap = new(Window);
    private long _oldest;
    private uint _state = 1;

    [Params(1, 16, 1000)]
    public int Gaps { get; set; }

    private int Spacing => Window / (Gaps + 1);

    [GlobalSetup]
    public void Setup()
    {
        for (int i = 0; i < Gaps; i++)
        {
            long first = (long)i * Spacing;
            _ranges.Add(first, first + GapNumbers - 1);
            _sorted.UnionWith(Enumerable.Range(0, GapNumbers).Select(n => first + n));
            _bitmap.Add(first, first + GapNumbers - 1);
        }
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Repair")]
    public long RepairRanges()
    {
        for (int i = 0; i < Steps; i++)
        {
            long first = _oldest + ((long)Gaps * Spacing);
            _ranges.Add(first, first + GapNumbers - 1);
            for (long n = _oldest; n < _oldest + GapNumbers; n++)
            {
                _ranges.Remove(n, n);
            }

            _oldest = _ranges[0].First;
        }

        return _oldest;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Repair")]
    public long RepairSortedSet()
    {
        for (int i = 0; i < Steps; i++)
        {
            long first = _oldest + ((long)Gaps * Spacing);
            for (long n = first; n < first + GapNumbers; n++)
            {
                _sorted.Add(n);
            }

            for (long n = _oldest; n < _oldest + GapNumbers; n++)
            {
                _sorted.Remove(n);
            }

            _oldest = _sorted.Min;
        }

        return _oldest;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Repair")]
    public long RepairBitmap()
    {
        for (int i = 0; i < Steps; i++)
        {
            long first = _oldest + ((long)Gaps * Spacing);
            _bitmap.Add(first, first + GapNumbers - 1);
            for (long n = _oldest; n < _oldest + GapNumbers; n++)
            {
                _bitmap.Remove(n);
            }

            _oldest = _bitmap.NextSet(_oldest, _oldest + Window);
        }

        return _oldest;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Look")]
    public int LookRanges()
    {
        int found = 0;
        for (int i = 0; i < Steps; i++)
        {
            found += _ranges.Contains(_oldest + Next() % Window) ? 1 : 0;
        }

        return found;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Look")]
    public int LookSortedSet()
    {
        int found = 0;
        for (int i = 0; i < Steps; i++)
        {
            found += _sorted.Contains(_oldest + Next() % Window) ? 1 : 0;
        }

        return found;
    }

    [Benchmark(OperationsPerInvoke = Steps)]
    [BenchmarkCategory("Look")]
    public int LookBitmap()
    {
        int found = 0;
        for (int i = 0; i < Steps; i++)
        {
            found += _bitmap.Contains(_oldest + Next() % Window) ? 1 : 0;
        }

        return found;
    }

    [Benchmark]
    [BenchmarkCategory("List")]
    public long ListRanges()
    {
        long sum = 0;
        foreach (var range in _ranges.Ranges[..Math.Min(_ranges.Count, Listed)])
        {
            sum += range.First ^ range.Last;
        }

        return sum;
    }

    [Benchmark]
    [BenchmarkCategory("List")]
    public long ListSortedSet()
    {
        long sum = 0;
        long first = -1;
        long last = -2;
        int listed = 0;
        foreach (long number in _sorted)
        {
            if (number != last + 1)
            {
                sum += first ^ last;
                first = number;
                if (listed++ == Listed)
                {
                    return sum;
                }
            }

            last = number;
        }

        return sum + (first ^ last);
    }

    [Benchmark]
    [BenchmarkCategory("List")]
    public long ListBitmap()
    {
        long sum = 0;
        long end = _oldest + Window;
        long first = _bitmap.NextSet(_oldest, end);
        for (int listed = 0; first < end && listed < Listed; listed++)
        {
            long after = _bitmap.NextClear(first, end);
            sum += first ^ (after - 1);
            first = _bitmap.NextSet(after, end);
        }

        return sum;
    }

    private uint Next()
    {
        _state ^= _state << 13;
        _state ^= _state >> 17;
        return _state ^= _state << 5;
    }
}
