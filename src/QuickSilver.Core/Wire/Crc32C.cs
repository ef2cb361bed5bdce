using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using ArmAes = System.Runtime.Intrinsics.Arm.Aes;

namespace QuickSilver.Core.Wire;

// CRC-32C (Castagnoli), three ways to the same value: by words, one after the other; in three lanes, as an instruction for a word
// takes three cycles and the processor can have three under way; and folded, 256 bytes at a time, by carry-less multiplication of
// 512 bits, which is twice as fast again where the processor has it (Gopal et al., "Fast CRC Computation for Generic Polynomials
// Using PCLMULQDQ Instruction", Intel, 2009). Sums here are bare: neither begun with ones nor inverted at the end.
internal static class Crc32C
{
    /// <summary>Fewer are not worth joining.</summary>
    public const int LeastFolded = 256;
    public const int LeastInLanes = 3 * 64;

    private const uint Polynomial = 0x82F6_3B78;

    public static bool CanFold => Pclmulqdq.V512.IsSupported && BitConverter.IsLittleEndian;

    // A sum is carried past a lane's bytes by one multiplication.
    public static bool CanUseLanes => (Pclmulqdq.IsSupported || ArmAes.IsSupported) && BitConverter.IsLittleEndian;

    public static uint Append(uint sum, ReadOnlySpan<byte> bytes)
    {
        if (CanFold && bytes.Length >= LeastFolded)
        {
            return Fold(sum, bytes);
        }

        return CanUseLanes && bytes.Length is >= LeastInLanes and <= Lanes.MostBytes
            ? InLanes(sum, bytes)
            : ByWords(sum, bytes);
    }

    public static uint ByWords(uint sum, ReadOnlySpan<byte> bytes)
    {
        foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes))
        {
            sum = BitOperations.Crc32C(sum, BitConverter.IsLittleEndian ? word : BinaryPrimitives.ReverseEndianness(word));
        }

        foreach (byte odd in bytes[(bytes.Length & ~7)..])
        {
            sum = BitOperations.Crc32C(sum, odd);
        }

        return sum;
    }

    public static uint InLanes(uint sum, ReadOnlySpan<byte> bytes)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(bytes);
        int lane = words.Length / 3;
        var first = words[..lane];
        var second = words.Slice(lane, lane);
        var third = words.Slice(2 * lane, lane);
        uint a = sum, b = 0, c = 0;
        for (int i = 0; i < first.Length; i++)
        {
            a = BitOperations.Crc32C(a, first[i]);
            b = BitOperations.Crc32C(b, second[i]);
            c = BitOperations.Crc32C(c, third[i]);
        }

        uint shift = Lanes.Shifts[lane];
        return ByWords(Shifted(Shifted(a, shift) ^ b, shift) ^ c, bytes[(3 * lane * sizeof(ulong))..]);
    }

    // Sixteen sums of 128 bits side by side, each carried past the other fifteen with every step and joined with what lies there.
    public static uint Fold(uint sum, ReadOnlySpan<byte> bytes)
    {
        ref byte at = ref MemoryMarshal.GetReference(bytes);
        var by = Folding.By256;
        var a = Load(ref at, 0) ^ Vector512.CreateScalar((ulong)sum);
        var b = Load(ref at, 64);
        var c = Load(ref at, 128);
        var d = Load(ref at, 192);
        int done = LeastFolded;
        for (; done <= bytes.Length - 256; done += 256)
        {
            a = Carried(a, by) ^ Load(ref at, done);
            b = Carried(b, by) ^ Load(ref at, done + 64);
            c = Carried(c, by) ^ Load(ref at, done + 128);
            d = Carried(d, by) ^ Load(ref at, done + 192);
        }

        by = Folding.By64;
        a = Carried(Carried(Carried(a, by) ^ b, by) ^ c, by) ^ d;
        for (; done <= bytes.Length - 64; done += 64)
        {
            a = Carried(a, by) ^ Load(ref at, done);
        }

        // The last of four needs to be carried nowhere: its factor is none.
        var carried = Carried(a, Folding.ToLast);
        var half = carried.GetLower() ^ carried.GetUpper();
        var last = half.GetLower() ^ half.GetUpper() ^ a.GetUpper().GetUpper();
        sum = BitOperations.Crc32C(BitOperations.Crc32C(0, last[0]), last[1]);
        return ByWords(sum, bytes[done..]);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Load(ref byte at, int offset) => Vector512.LoadUnsafe(ref at, (nuint)offset).AsUInt64();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector512<ulong> Carried(Vector512<ulong> sums, Vector512<ulong> by) =>
        Pclmulqdq.V512.CarrylessMultiply(sums, by, 0x00) ^ Pclmulqdq.V512.CarrylessMultiply(sums, by, 0x11);

    private static uint Shifted(uint sum, uint shift)
    {
        ulong product = Pclmulqdq.IsSupported
            ? Pclmulqdq.CarrylessMultiply(Vector128.CreateScalar((ulong)sum), Vector128.CreateScalar((ulong)shift), 0)[0]
            : ArmAes.PolynomialMultiplyWideningLower(Vector64.Create((ulong)sum), Vector64.Create((ulong)shift))[0];
        return BitOperations.Crc32C(0, product);
    }

    // x to this power, modulo the polynomial; bits reversed, as in a sum.
    private static uint Power(int exponent)
    {
        uint power = 1U << 31;
        for (; exponent > 0; exponent--)
        {
            power = TimesX(power);
        }

        return power;
    }

    private static uint TimesX(uint value) => (value >> 1) ^ ((value & 1) == 0 ? 0 : Polynomial);

    // Made where they are used first: no processor needs both.
    private static class Lanes
    {
        public const int MostBytes = 1 << 16;

        // By words of a lane. The sum of a product's word is the product times x to the 32nd, and a product of reversed factors
        // is reversed but for one bit: so 33 less.
        public static readonly uint[] Shifts = MakeShifts();

        private static uint[] MakeShifts()
        {
            var shifts = new uint[(MostBytes / 3 / sizeof(ulong)) + 1];
            uint power = Power(64 - 33);
            for (int words = 1; words < shifts.Length; words++)
            {
                shifts[words] = power;
                for (int i = 0; i < 64; i++)
                {
                    power = TimesX(power);
                }
            }

            return shifts;
        }
    }

    private static class Folding
    {
        public static readonly Vector512<ulong> By256 = Vector512.Create(Past(256));
        public static readonly Vector512<ulong> By64 = Vector512.Create(Past(64));
        public static readonly Vector512<ulong> ToLast =
            Vector512.Create(Vector256.Create(Past(48), Past(32)), Vector256.Create(Past(16), Vector128<ulong>.Zero));

        // The factors that carry 128 bits past so many bytes: of the half that comes first, 64 bits further on, and of the other.
        private static Vector128<ulong> Past(int bytes) => Vector128.Create((ulong)Power((bytes * 8) + 64 - 33), Power((bytes * 8) - 33));
    }
}
