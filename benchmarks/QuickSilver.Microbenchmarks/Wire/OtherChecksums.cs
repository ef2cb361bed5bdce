using System.Numerics;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.Wire;

// Folding as Crc32C does it, but by 128 bits, which more processors have.
internal static class OtherChecksums
{
    public static bool CanFold => Pclmulqdq.IsSupported && Sse42.X64.IsSupported;

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

    private static uint Finish(
        Vector128<ulong> x0, Vector128<ulong> x1, Vector128<ulong> x2, Vector128<ulong> x3, ReadOnlySpan<byte> rest)
    {
        var by16 = Vector128.Create(0xf20c0dfeul, 0x493c7d27ul);
        x1 ^= Fold(x0, by16);
        x2 ^= Fold(x1, by16);
        x3 ^= Fold(x2, by16);
        uint sum = BitOperations.Crc32C(BitOperations.Crc32C(0u, x3.GetElement(0)), x3.GetElement(1));
        return ~Crc32C.ByWords(sum, rest);
    }

    private static Vector128<ulong> Fold(Vector128<ulong> value, Vector128<ulong> by) =>
        Pclmulqdq.CarrylessMultiply(value, by, 0x00) ^ Pclmulqdq.CarrylessMultiply(value, by, 0x11);
}
