namespace QuickSilver.Fuzz;

// What the fuzzer calls with bytes of its choice: the decoders of one family. Run returns, whatever the bytes are. A target catches only
// what a decoder documents; everything else that is thrown is a finding. The same bytes must do the same in each run.
internal abstract class FuzzTarget
{
    protected const int FreeBytes = 64 << 10;

    /// <summary>The name on the command line, and of the folder of its corpus.</summary>
    public abstract string Name { get; }

    /// <summary>The types whose decoders the target calls.</summary>
    public abstract IReadOnlyList<Type> Decoders { get; }

    /// <summary>Valid inputs, from which the fuzzer makes its own.</summary>
    public abstract IEnumerable<Seed> Seeds();

    public abstract void Run(ReadOnlySpan<byte> input);

    /// <summary>
    /// How many bytes a run may allocate: what does not depend on the input, and a multiple of it. An empty message within another takes
    /// two bytes and becomes an object, and what was read is written and read once more.
    /// </summary>
    public virtual long AllocationLimit(ReadOnlySpan<byte> input) => FreeBytes + (128L * input.Length);
}

internal readonly record struct Seed(string Name, byte[] Bytes);

// What a target found by itself: no exception, but a result that must not be.
internal sealed class FindingException(string message) : Exception(message)
{
    public static void ThrowUnless(bool holds, string message)
    {
        if (!holds)
        {
            throw new FindingException(message);
        }
    }
}
