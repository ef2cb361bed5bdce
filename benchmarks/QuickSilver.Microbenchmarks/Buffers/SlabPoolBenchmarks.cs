using System.Buffers;
using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Buffers;

namespace QuickSilver.Microbenchmarks.Buffers;

// A window of blocks (a power of two) is out at any time: each step returns the oldest and rents another, as retention
// does.
[MemoryDiagnoser]
public class SlabPoolBenchmarks
{
    private const int OperationsPerInvoke = 1024;

    private readonly SlabPool _slabs = new(2048L * SlabPool.BlockBytes);
    private Lease[] _leases = [];
    private byte[][] _arrays = [];
    private int _at;

    [Params(1, 64, 1024)]
    public int Window { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _leases = Enumerable.Range(0, Window).Select(_ => _slabs.TryRent()!).ToArray();
        _arrays = Enumerable.Range(0, Window).Select(_ => ArrayPool<byte>.Shared.Rent(SlabPool.BlockBytes)).ToArray();
    }

    [Benchmark(OperationsPerInvoke = OperationsPerInvoke)]
    public void SlabPoolRentAndRelease()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            ref var slot = ref _leases[_at++ & (Window - 1)];
            slot.Release();
            slot = _slabs.TryRent()!;
        }
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = OperationsPerInvoke)]
    public void ArrayPoolRentAndReturn()
    {
        for (int i = 0; i < OperationsPerInvoke; i++)
        {
            ref var slot = ref _arrays[_at++ & (Window - 1)];
            ArrayPool<byte>.Shared.Return(slot);
            slot = ArrayPool<byte>.Shared.Rent(SlabPool.BlockBytes);
        }
    }
}
