namespace QuickSilver.Fuzz;

// One input and one target. The fuzzer and the replay of the corpus run this, so what one finds the other shows again.
internal static class FuzzRun
{
    /// <summary>The longest input. The fuzzer makes no longer ones, and a datagram is no longer.</summary>
    public const int MostBytes = 64 << 10;

    /// <exception cref="Exception">The target has a finding.</exception>
    public static void Execute(FuzzTarget target, ReadOnlySpan<byte> input)
    {
        input = input[..Math.Min(input.Length, MostBytes)];
        long limit = target.AllocationLimit(input);
        long allocated = Measure(target, input);
        if (allocated > limit)
        {
            // The first run of a path makes what later runs share, such as tables and types.
            allocated = Measure(target, input);
        }

        FindingException.ThrowUnless(
            allocated <= limit, $"{input.Length} bytes made {target.Name} allocate {allocated} bytes. The limit is {limit}.");
    }

    private static long Measure(FuzzTarget target, ReadOnlySpan<byte> input)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        target.Run(input);
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
