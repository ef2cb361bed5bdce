using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.DataPath;

// From a run of received packets to a handler of the public face: the core thread's share of receiving but for the kernel's.
// One operation is one pass over some megabytes: MessagesPerPass messages. `receive` as the program's only argument divides by
// them. The checksum is measured beside, since it is the memory's speed.
[MemoryDiagnoser]
public class ReceiveBenchmarks
{
    private const int RunsPerPass = 64;

    private ReceiveBed<ReadOnlyMemory<byte>> _bed = null!;
    private ReceiveBed<ReadOnlyMemory<byte>> _readBed = null!;
    private IAsyncEnumerator<Message<ReadOnlyMemory<byte>>> _reader = null!;
    private long _bytes;
    private long _read;

    [Params(100, 1000)]
    public int MessageBytes { get; set; }

    public long BytesHandled => _bytes;

    public long MessagesPerPass => _bed.Packets.Messages;

    [GlobalSetup]
    public void Setup()
    {
        _bed = new(RunsPerPass, MessageBytes, (in Message<ReadOnlyMemory<byte>> message) => _bytes += message.Value.Length);
        _bed.Pass();
        _readBed = new(RunsPerPass, MessageBytes, handler: null);
        _reader = _readBed.Topic.ReadAllAsync().GetAsyncEnumerator();
        _readBed.AfterRun = ReadRun;
        _readBed.Pass();
    }

    [IterationSetup]
    public void Rewind()
    {
        _bed.Rewind();
        _readBed.Rewind();
    }

    [Benchmark]
    public long Receive()
    {
        _bed.Pass();
        return _bytes;
    }

    // The same to a reader, which reads after each run what is there: both sides of its buffer, on one thread.
    [Benchmark]
    public long Read()
    {
        _readBed.Pass();
        return _read;
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

    private void ReadRun()
    {
        for (; _read < _readBed.Counters.MessagesDelivered; _read++)
        {
            var next = _reader.MoveNextAsync();
            if (!next.IsCompletedSuccessfully || !next.Result)
            {
                throw new InvalidOperationException("What was delivered is not there to be read.");
            }
        }
    }
}
