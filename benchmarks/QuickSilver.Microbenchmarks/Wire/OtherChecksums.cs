using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace QuickSilver.Microbenchmarks.Wire;

// Other ways to the same strength as the packet checksum. The folding is that of Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ" (Intel, 2009), with the constants for CRC-32C; it gives the textbook's CRC, which the
// benchmark's setup holds against OneChain.
internal static class OtherChecksums
{
    public static bool CanFold => Pclmulqdq.IsSupported && Sse42.X64.IsSupported;

    public static bool CanFoldWide => CanFold && Pclmulqdq.V512.IsSupported && Avx512F.IsSupported;

    /// <summary>The textbook's CRC-32C with one instruction after the other.</summary>
    public static uint OneChain(ReadOnlySpan<byte> bytes) => ~Chain(uint.MaxValue, bytes);

    /// <summary>As the packet checksum, but in eight lanes: not the textbook's value either.</summary>
    public static uint EightLanes(ReadOnlySpan<byte> bytes)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        int lane = words.Length / 8;
        uint a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
        var s0 = words[..lane];
        var s1 = words.Slice(lane, lane);
        var s2 = words.Slice(2 * lane, lane);
        var s3 = words.Slice(3 * lane, lane);
        var s4 = words.Slice(4 * lane, lane);
        var s5 = words.Slice(5 * lane, lane);
        var s6 = words.Slice(6 * lane, lane);
        var s7 = words.Slice(7 * lane, lane);
        for (int i = 0; i < s0.Length; i++)
        {
            a = BitOperations.Crc32C(a, s0[i]);
            b = BitOperations.Crc32C(b, s1[i]);
            c = BitOperations.Crc32C(c, s2[i]);
            d = BitOperations.Crc32C(d, s3[i]);
            e = BitOperations.Crc32C(e, s4[i]);
            f = BitOperations.Crc32C(f, s5[i]);
            g = BitOperations.Crc32C(g, s6[i]);
            h = BitOperations.Crc32C(h, s7[i]);
        }

        uint sum = BitOperations.Crc32C(BitOperations.Crc32C(uint.MaxValue, ((ulong)a << 32) | b), ((ulong)c << 32) | d);
        sum = BitOperations.Crc32C(BitOperations.Crc32C(sum, ((ulong)e << 32) | f), ((ulong)g << 32) | h);
        return ~Chain(sum, bytes[(lane * 64)..]);
    }

    /// <summary>Folds four lanes of 16 bytes; at least 64 bytes.</summary>
    public static uint Fold(ReadOnlySpan<byte> bytes)
    {
        var by64 = Vector128.Create(0x740eef02ul, 0x9e4addf8ul);
        ref byte at = ref MemoryMarshal.GetReference(bytes);
        var x0 = Vector128.LoadUnsafe(ref at, 0).AsUInt64() ^ Vector128.CreateScalar((ulong)uint.MaxValue);
        var x1 = Vector128.LoadUnsafe(ref at, 16).AsUInt64();
        var x2 = Vector128.LoadUnsafe(ref at, 32).AsUInt64();
        var x3 = Vector128.LoadUnsafe(ref at, 48).AsUInt64();
        int done = 64;
        for (; bytes.Length - done >= 64; done += 64)
        {
            x0 = Fold(x0, by64) ^ Vector128.LoadUnsafe(ref at, (nuint)done).AsUInt64();
            x1 = Fold(x1, by64) ^ Vector128.LoadUnsafe(ref at, (nuint)done + 16).AsUInt64();
            x2 = Fold(x2, by64) ^ Vector128.LoadUnsafe(ref at, (nuint)done + 32).AsUInt64();
            x3 = Fold(x3, by64) ^ Vector128.LoadUnsafe(ref at, (nuint)done + 48).AsUInt64();
        }

        return Finish(x0, x1, x2, x3, bytes[done..]);
    }

    /// <summary>Folds four lanes of 64 bytes; at least 64 bytes.</summary>
    public static uint FoldWide(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 256)
        {
            return Fold(bytes);
        }

        var by256 = Vector512.Create(Vector128.Create(0xdcb17aa4ul, 0xb9e02b86ul));
        var by64 = Vector512.Create(Vector128.Create(0x740eef02ul, 0x9e4addf8ul));
        ref byte at = ref MemoryMarshal.GetReference(bytes);
        var x0 = Vector512.LoadUnsafe(ref at, 0).AsUInt64() ^ Vector512.CreateScalar((ulong)uint.MaxValue);
        var x1 = Vector512.LoadUnsafe(ref at, 64).AsUInt64();
        var x2 = Vector512.LoadUnsafe(ref at, 128).AsUInt64();
        var x3 = Vector512.LoadUnsafe(ref at, 192).AsUInt64();
        int done = 256;
        for (; bytes.Length - done >= 256; done += 256)
        {
            x0 = Fold(x0, by256) ^ Vector512.LoadUnsafe(ref at, (nuint)done).AsUInt64();
            x1 = Fold(x1, by256) ^ Vector512.LoadUnsafe(ref at, (nuint)done + 64).AsUInt64();
            x2 = Fold(x2, by256) ^ Vector512.LoadUnsafe(ref at, (nuint)done + 128).AsUInt64();
            x3 = Fold(x3, by256) ^ Vector512.LoadUnsafe(ref at, (nuint)done + 192).AsUInt64();
        }

        x1 ^= Fold(x0, by64);
        x2 ^= Fold(x1, by64);
        x3 ^= Fold(x2, by64);
        for (; bytes.Length - done >= 64; done += 64)
        {
            x3 = Fold(x3, by64) ^ Vector512.LoadUnsafe(ref at, (nuint)done).AsUInt64();
        }

        var low = x3.GetLower();
        var high = x3.GetUpper();
        return Finish(low.GetLower(), low.GetUpper(), high.GetLower(), high.GetUpper(), bytes[done..]);
    }

    private static uint Finish(
        Vector128<ulong> x0, Vector128<ulong> x1, Vector128<ulong> x2, Vector128<ulong> x3, ReadOnlySpan<byte> rest)
    {
        var by16 = Vector128.Create(0xf20c0dfeul, 0x493c7d27ul);
        x1 ^= Fold(x0, by16);
        x2 ^= Fold(x1, by16);
        x3 ^= Fold(x2, by16);
        uint sum = BitOperations.Crc32C(BitOperations.Crc32C(0u, x3.GetElement(0)), x3.GetElement(1));
        return ~Chain(sum, rest);
    }

    private static Vector128<ulong> Fold(Vector128<ulong> value, Vector128<ulong> by) =>
        Pclmulqdq.CarrylessMultiply(value, by, 0x00) ^ Pclmulqdq.CarrylessMultiply(value, by, 0x11);

    private static Vector512<ulong> Fold(Vector512<ulong> value, Vector512<ulong> by) =>
        Pclmulqdq.V512.CarrylessMultiply(value, by, 0x00) ^ Pclmulqdq.V512.CarrylessMultiply(value, by, 0x11);

    private static uint Chain(uint sum, ReadOnlySpan<byte> bytes)
    {
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes))
        {
            sum = BitOperations.Crc32C(sum, word);
        }

        foreach (byte odd in bytes[(bytes.Length & ~7)..])
        {
            sum = BitOperations.Crc32C(sum, odd);
        }

        return sum;
    }
}
