using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.Wire;

// The checksum over a full packet, a small one and one that is all header, beside other ways to it and other sums. The three of
// System.IO.Hashing are there where the SDK brings that assembly along.
public class PacketChecksumBenchmarks
{
    private byte[] _packet = [];

    [Params(1472, 300, 64)]
    public int PacketBytes { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _packet = new byte[PacketBytes];
        Random.Shared.NextBytes(_packet);
        if (OtherChecksums.CanFold && OtherChecksums.Fold(_packet) != OneChain())
        {
            throw new InvalidOperationException("Folding gives another CRC-32C than one chain.");
        }
    }

    [Benchmark(Baseline = true)]
    public uint Packet() => PacketChecksum.Compute(_packet);

    [Benchmark]
    public uint OneChain() => ~Crc32C.ByWords(uint.MaxValue, _packet);

    [Benchmark]
    public uint InLanes() => Crc32C.CanUseLanes ? ~Crc32C.InLanes(uint.MaxValue, _packet) : throw new PlatformNotSupportedException();

    [Benchmark]
    public uint Folded() => OtherChecksums.CanFold ? OtherChecksums.Fold(_packet) : throw new PlatformNotSupportedException();

    [Benchmark]
    public ulong XxHash3() => System.IO.Hashing.XxHash3.HashToUInt64(_packet);

    [Benchmark]
    public uint Crc32() => System.IO.Hashing.Crc32.HashToUInt32(_packet);

    [Benchmark]
    public ulong Crc64() => System.IO.Hashing.Crc64.HashToUInt64(_packet);
}
