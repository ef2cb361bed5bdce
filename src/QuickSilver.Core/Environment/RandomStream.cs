using System.Numerics;

namespace QuickSilver.Core.Environment;

// xoshiro256**, its state spread from one seed by SplitMix64, as its authors advise: no state of zeros, and seeds that
// differ in one bit give unrelated streams. Not for secrets.
internal sealed class RandomStream
{
    private ulong _s0;
    private ulong _s1;
    private ulong _s2;
    private ulong _s3;

    public RandomStream(ulong seed)
    {
        _s0 = Spread(ref seed);
        _s1 = Spread(ref seed);
        _s2 = Spread(ref seed);
        _s3 = Spread(ref seed);
    }

    public ulong Next()
    {
        ulong result = BitOperations.RotateLeft(_s1 * 5, 7) * 9;
        ulong shifted = _s1 << 17;
        _s2 ^= _s0;
        _s3 ^= _s1;
        _s1 ^= _s2;
        _s0 ^= _s3;
        _s2 ^= shifted;
        _s3 = BitOperations.RotateLeft(_s3, 45);
        return result;
    }

    private static ulong Spread(ref ulong state)
    {
        ulong z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
