using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Microbenchmarks.Packing;

// A batch of equal messages into packets of 1472 bytes, which are then let go as if acknowledged: packed; one packet for
// each message, by the same code, which closes after each; and the payloads merely copied one after the other into the same
// kind of blocks. Headers, checksums and retention are in the first two.
[MemoryDiagnoser]
public class PackerBenchmarks
{
    private const int Batch = 1024;
    private const int PacketBytes = 1472;

    private readonly SlabPool _pool = new(64L << 20);
    private readonly RetentionBuffer _packets = new(new RetentionBudget(64L << 20));
    private byte[] _payload = [];
    private Packer? _packer;
    private long _sequence;

    [Params(20, 150, 1000)]
    public int PayloadBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _payload = new byte[PayloadBytes];
        Random.Shared.NextBytes(_payload);
        _packer = new Packer(_pool, new PacketTemplate(1, 2, 3, 4, 5), PacketBytes, _packets);
        _pool.Reserve();
        long before = _packets.Next;
        Packed();
        Console.WriteLine($"// {Batch} messages of {PayloadBytes} bytes make {_packets.Next - before} packets.");
    }

    [GlobalCleanup]
    public void Cleanup() => _packer!.Dispose();

    [Benchmark(Baseline = true, OperationsPerInvoke = Batch)]
    public void Packed()
    {
        for (int i = 0; i < Batch; i++)
        {
            if (_packer!.FreeBlocks > _packer.MostBlocks(_payload.Length))
            {
                _packer.Append(7, ++_sequence, null, [], _payload);
            }
        }

        _packer!.Flush();
        _packets.ReleaseThrough(_packets.Last);
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void OnePacketPerMessage()
    {
        for (int i = 0; i < Batch; i++)
        {
            if (_packer!.FreeBlocks > _packer.MostBlocks(_payload.Length))
            {
                _packer.Append(7, ++_sequence, null, [], _payload);
                _packer.Flush();
            }
        }

        _packets.ReleaseThrough(_packets.Last);
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public void CopyOnly()
    {
        var block = _pool.TryRent()!;
        int used = 0;
        for (int i = 0; i < Batch; i++)
        {
            if (SlabPool.BlockBytes - used < _payload.Length)
            {
                block.Release();
                block = _pool.TryRent()!;
                used = 0;
            }

            _payload.CopyTo(block.Span[used..]);
            used += _payload.Length;
        }

        block.Release();
    }
}
