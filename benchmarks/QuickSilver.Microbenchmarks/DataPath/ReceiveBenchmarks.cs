using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.DataPath;

// From a run of received packets to a handler of the public face: the core thread's share of receiving but for the kernel's.
// One operation is one pass over some megabytes; the column of nanoseconds is to be divided by the messages, which the
// program prints with `receive` as its first argument. The checksum is measured beside, since it is the memory's speed.
[MemoryDiagnoser]
public class ReceiveBenchmarks
{
    private const int RunsPerPass = 64;

    private ReceiveBed<ReadOnlyMemory<byte>> _bed = null!;
    private long _bytes;

    [Params(100, 1000)]
    public int MessageBytes { get; set; }

    public long BytesHandled => _bytes;

    public long MessagesPerPass => _bed.Packets.Messages;

    [GlobalSetup]
    public void Setup()
    {
        _bed = new(RunsPerPass, MessageBytes, (in Message<ReadOnlyMemory<byte>> message) => _bytes += message.Value.Length);
        _bed.Pass();
    }

    [IterationSetup]
    public void Rewind() => _bed.Rewind();

    [Benchmark]
    public long Receive()
    {
        _bed.Pass();
        return _bytes;
    }

    [Benchmark]
    public long Checksums()
    {
        long sum = 0;
        foreach (var run in _bed.Packets.Runs)
        {
            for (int at = 0; at < run.Length; at += new PacketHeader(run.Span[at..]).Length)
            {
                sum += PacketChecksum.Compute(run.Span.Slice(at, new PacketHeader(run.Span[at..]).Length));
            }
        }

        return sum;
    }
}
