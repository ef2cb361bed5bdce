namespace QuickSilver.Simulation;

/// <summary>
/// Something that must always hold did not, something that must come to be never did, code under simulation failed, or the run
/// is not deterministic. The message says when, where and under which seed.
/// </summary>
public sealed class SimulationException : Exception
{
    internal SimulationException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }

    /// <summary>The seed that failed, where <see cref="Simulate.ManySeeds"/> found it; null elsewhere.</summary>
    public ulong? Seed { get; internal init; }

    /// <summary>The one line that plays that seed again, where <see cref="Simulate.ManySeeds"/> found it; null elsewhere.</summary>
    public string? Replay { get; internal init; }
}
