namespace QuickSilver.Simulation.Machines;

// SplitMix64: one addition and a mix, eight bytes of state, and the same numbers on every machine. Each node and each
// link has a stream of its own, so that one more draw in one place does not shift the fate of everything else.
internal sealed class SeededRandom(ulong seed)
{
    private const ulong Step = 0x9E3779B97F4A7C15;
    private const double Unit = 1.0 / (1UL << 53);

    private ulong _state = seed;

    /// <summary>A stream that depends on the seed and on whose it is.</summary>
    public static SeededRandom Derive(ulong seed, ulong purpose, ulong owner) => new(Mix(Mix(Mix(seed + Step) ^ purpose) + Step + owner));

    public ulong Next() => Mix(_state += Step);

    public double NextUnit() => (Next() >> 11) * Unit;

    public bool Chance(double probability) => probability > 0 && NextUnit() < probability;

    /// <summary>A number from 0 to <paramref name="count"/> - 1.</summary>
    public int Below(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        return (int)Math.BigMul(Next(), (ulong)count, out _);
    }

    /// <summary>A time from <paramref name="least"/> to <paramref name="most"/>, ends included.</summary>
    public TimeSpan Between(TimeSpan least, TimeSpan most)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(least, most);
        ulong span = (ulong)(most - least).Ticks + 1;
        return least + TimeSpan.FromTicks((long)Math.BigMul(Next(), span, out _));
    }

    public TimeSpan UpTo(TimeSpan most) => most <= TimeSpan.Zero ? TimeSpan.Zero : Between(TimeSpan.Zero, most);

    private static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
