namespace QuickSilver.Simulation.Machines;

#pragma warning disable RS0030 // The one random generator that protocol code may not use is here given to users, without its chance.

// A stream of the simulator's chance as the class that user code knows. All is drawn from the stream, in ways that no version
// of the runtime changes.
internal sealed class SimulatedRandom(SeededRandom stream) : Random(Seed: 0)
{
    public override int Next() => stream.Below(int.MaxValue);

    public override int Next(int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return maxValue == 0 ? 0 : stream.Below(maxValue);
    }

    public override int Next(int minValue, int maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return minValue == maxValue ? minValue : (int)(minValue + Below((ulong)((long)maxValue - minValue)));
    }

    public override long NextInt64() => Below(long.MaxValue);

    public override long NextInt64(long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxValue);
        return maxValue == 0 ? 0 : Below((ulong)maxValue);
    }

    public override long NextInt64(long minValue, long maxValue)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minValue, maxValue);
        return minValue == maxValue ? minValue : unchecked(minValue + Below((ulong)maxValue - (ulong)minValue));
    }

    public override double NextDouble() => stream.NextUnit();

    public override float NextSingle() => (stream.Next() >> 40) * (1.0f / (1 << 24));

    public override void NextBytes(byte[] buffer) => NextBytes(buffer.AsSpan());

    public override void NextBytes(Span<byte> buffer)
    {
        foreach (ref byte one in buffer)
        {
            one = (byte)(stream.Next() >> 56);
        }
    }

    protected override double Sample() => stream.NextUnit();

    private long Below(ulong count) => (long)Math.BigMul(stream.Next(), count, out _);
}
