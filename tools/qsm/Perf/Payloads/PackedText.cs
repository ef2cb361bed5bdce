namespace QuickSilver.Tool.Perf.Payloads;

// Up to eight ASCII letters in a number, the first in its lowest byte: short texts make short varints, and decoding them
// allocates nothing.
internal static class PackedText
{
    private const int MaxLetters = 8;

    public static ulong Pack(ReadOnlySpan<char> text)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(text.Length, MaxLetters);
        ulong packed = 0;
        for (int i = 0; i < text.Length; i++)
        {
            packed |= (ulong)(byte)text[i] << (8 * i);
        }

        return packed;
    }
}
