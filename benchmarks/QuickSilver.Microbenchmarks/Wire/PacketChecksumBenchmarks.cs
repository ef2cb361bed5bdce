using BenchmarkDotNet.Attributes;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.Wire;

// The checksum over a full packet, a small one and one that is all header, beside other sums of 32 and 64 bits. The three of
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
        uint sum = OtherChecksums.OneChain(_packet);
        if ((OtherChecksums.CanFold && OtherChecksums.Fold(_packet) != sum)
            || (OtherChecksums.CanFoldWide && OtherChecksums.FoldWide(_packet) != sum))
        {
            throw new InvalidOperationException("Folding gives another CRC-32C than the textbook's.");
        }
    }

    [Benchmark(Baseline = true)]
    public uint FourLanes() => PacketChecksum.Compute(_packet);

    [Benchmark]
    public uint EightLanes() => OtherChecksums.EightLanes(_packet);

    [Benchmark]
    public uint OneChain() => OtherChecksums.OneChain(_packet);

    [Benchmark]
    public uint Folded() => OtherChecksums.CanFold ? OtherChecksums.Fold(_packet) : throw new PlatformNotSupportedException();

    [Benchmark]
    public uint FoldedWide() => OtherChecksums.CanFoldWide ? OtherChecksums.FoldWide(_packet) : throw new PlatformNotSupportedException();

#if HAS_HASHING
    [Benchmark]
    public ulong XxHash3() => System.IO.Hashing.XxHash3.HashToUInt64(_packet);

    [Benchmark]
    public uint Crc32() => System.IO.Hashing.Crc32.HashToUInt32(_packet);

    [Benchmark]
    public ulong Crc64() => System.IO.Hashing.Crc64.HashToUInt64(_packet);
#endif
}
