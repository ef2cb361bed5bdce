using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace QuickSilver.Serialization.Protobuf;

// Varints of up to eight bytes as one machine word, the first byte lowest: no loop over their bytes.
internal static class Varint
{
    /// <summary>The greatest value whose varint fits eight bytes.</summary>
    public const ulong MaxInWord = (1UL << 56) - 1;

    /// <summary>The longest varint.</summary>
    public const int MaxBytes = 10;

    /// <summary>The continuation bits of a varint of eight bytes; those of a shorter one, shifted by what it leaves unused.</summary>
    public const ulong ContinueBitsOfShorter = 0x0080808080808080;

    public const ulong ContinueBits = 0x8080808080808080;
    public const ulong ValueBits = 0x7F7F7F7F7F7F7F7F;

    // PDEP and PEXT are one step each, but microcode on AMD before Zen 3: there hundreds of cycles, far more than the shifts.
    private static readonly bool HasFastBitMoves = Bmi2.X64.IsSupported && !IsOldAmd();

    /// <summary>The varint of a value up to MaxInWord, and its bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong ToWord(ulong value, out int bytes)
    {
        ulong spread = Spread(value);
        int unused = BitOperations.LeadingZeroCount(spread | 1) & 0x38;
        bytes = sizeof(ulong) - (unused >> 3);
        // All of them but the last have the continuation bit.
        return spread | (ContinueBitsOfShorter >> unused);
    }

    /// <summary>Writes any value where ten bytes are free; returns how many it took.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Write(ref byte destination, ulong value)
    {
        if (value >> 56 == 0)
        {
            Unsafe.WriteUnaligned(ref destination, LittleEndian.Of(ToWord(value, out int bytes)));
            return bytes;
        }

        return WriteLong(ref destination, value);
    }

    private static int WriteLong(ref byte destination, ulong value)
    {
        int bytes = ProtobufSize.UInt64(value);
        Unsafe.WriteUnaligned(ref destination, LittleEndian.Of(Spread(value & MaxInWord) | ContinueBits));
        ulong top = value >> 56;
        // One byte if that is all, else two, of which the last has one bit.
        Unsafe.WriteUnaligned(
            ref Unsafe.Add(ref destination, sizeof(ulong)),
            LittleEndian.Of((ushort)((top & 0x7F) | (top >> 7 == 0 ? 0UL : 0x80) | (top >> 7 << 8))));
        return bytes;
    }

    /// <summary>Seven bits into each byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Spread(ulong value) => HasFastBitMoves ? Bmi2.X64.ParallelBitDeposit(value, ValueBits) : SpreadByShifts(value);

    /// <summary>Seven bits out of each byte of those that the mask has.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Gather(ulong word, ulong mask) =>
        HasFastBitMoves ? Bmi2.X64.ParallelBitExtract(word, mask) : GatherByShifts(word & mask);

    /// <summary>Seven bits out of each byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Gather(ulong word) => HasFastBitMoves ? Bmi2.X64.ParallelBitExtract(word, ValueBits) : GatherByShifts(word);

    public static ulong SpreadByShifts(ulong value)
    {
        value = (value & 0x000000000FFFFFFF) | ((value & 0x00FFFFFFF0000000) << 4);
        value = (value & 0x00003FFF00003FFF) | ((value & 0x0FFFC0000FFFC000) << 2);
        return (value & 0x007F007F007F007F) | ((value & 0x3F803F803F803F80) << 1);
    }

    public static ulong GatherByShifts(ulong word)
    {
        word = (word & 0x007F007F007F007F) | ((word & 0x7F007F007F007F00) >> 1);
        word = (word & 0x00003FFF00003FFF) | ((word & 0x3FFF00003FFF0000) >> 2);
        return (word & 0x000000000FFFFFFF) | ((word & 0x0FFFFFFF00000000) >> 4);
    }

    private static bool IsOldAmd()
    {
        const int Zen3Family = 0x19;
        var (_, vendor, _, _) = X86Base.CpuId(0, 0);
        bool isIntel = vendor == BitConverter.ToInt32("Genu"u8);
        var (version, _, _, _) = X86Base.CpuId(1, 0);
        int family = ((version >> 8) & 0xF) + ((version >> 20) & 0xFF);
        return !isIntel && family < Zen3Family;
    }
}
