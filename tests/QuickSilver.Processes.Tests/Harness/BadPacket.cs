namespace QuickSilver.Processes.Tests.Harness;

// The ways in which a packet can be bad, in turn by chance: noise, cut short, with bits flipped, too long, or simply
// one that was seen before.
internal static class BadPacket
{
    private const int LargestDatagram = 65_507;

    public static byte[] From(byte[] good, Random random) => random.Next(6) switch
    {
        0 => Noise(random, random.Next(1, 1473)),
        1 => good[..random.Next(good.Length)],
        2 => Flipped(good, random, bits: 1, within: Math.Min(64, good.Length)),
        3 => Flipped(good, random, bits: random.Next(1, 20), within: good.Length),
        4 => [.. good, .. Noise(random, random.Next(1, random.Next(20) == 0 ? LargestDatagram - good.Length : 1473))],
        _ => good,
    };

    public static byte[] Noise(Random random, int length)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }

    private static byte[] Flipped(byte[] good, Random random, int bits, int within)
    {
        var bad = good.ToArray();
        for (var i = 0; i < bits && within > 0; i++)
        {
            bad[random.Next(within)] ^= (byte)(1 << random.Next(8));
        }

        return bad;
    }
}
