using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using Google.Protobuf;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Microbenchmarks.Serialization;

// One Departure to bytes and back: the codec that the source generator wrote beside the class that protoc wrote for the
// same message. Both make the same bytes, which the setup holds.
[MemoryDiagnoser]
[GroupBenchmarksBy(BenchmarkLogicalGroupRule.ByCategory)]
[CategoriesColumn]
public class CodecBenchmarks
{
    private readonly Departure _departure = Departure.Example(978_310_860_000);
    private readonly byte[] _buffer = new byte[512];
    private IPayloadCodec<Departure> _codec = null!;
    private Twins.Departure _twin = null!;
    private byte[] _bytes = [];

    [GlobalSetup]
    public void Setup()
    {
        if (!GeneratedCodecs.TryGet(out IPayloadCodec<Departure>? codec))
        {
            throw new InvalidOperationException("The generator wrote no codec for Departure.");
        }

        _codec = codec;
        _bytes = _buffer[..codec.Write(_departure, _buffer)].ToArray();
        _twin = Twins.Departure.Parser.ParseFrom(_bytes);
        if (!_twin.ToByteArray().AsSpan().SequenceEqual(_bytes))
        {
            throw new InvalidOperationException("The two do not make the same bytes.");
        }

        Console.WriteLine($"// One Departure is {_bytes.Length} bytes.");
    }

    [Benchmark]
    [BenchmarkCategory("Write")]
    public int WriteGenerated()
    {
        int size = _codec.GetSize(_departure);
        return _codec.Write(_departure, _buffer.AsSpan(0, size));
    }

    [Benchmark]
    [BenchmarkCategory("Write")]
    public int WriteGoogle()
    {
        int size = _twin.CalculateSize();
        _twin.WriteTo(_buffer.AsSpan(0, size));
        return size;
    }

    [Benchmark]
    [BenchmarkCategory("Read")]
    public Departure ReadGenerated() => _codec.Read(_bytes);

    [Benchmark]
    [BenchmarkCategory("Read")]
    public Twins.Departure ReadGoogle() => Twins.Departure.Parser.ParseFrom(_bytes.AsSpan());
}
