namespace QuickSilver.Simulation;

/// <summary>
/// The exception that is thrown when an invariant failed, a condition did not become true, code under simulation failed, or a run is not
/// deterministic. The message contains the time, the place and the seed.
/// </summary>
public sealed class SimulationException : Exception
{
    internal SimulationException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }

    /// <summary>Whether code under simulation continued on the thread pool, so that no two runs are alike.</summary>
    internal bool IsEscape { get; init; }

    /// <summary>The seed of the run that failed. Null: the failure is one of virtual time itself, outside of a cluster.</summary>
    public ulong? Seed { get; internal init; }

    /// <summary>The virtual time at which it failed, since the cluster was created.</summary>
    public TimeSpan? Time { get; internal init; }

    /// <summary>The command line that runs the seed again, if <see cref="Simulate.ManySeeds"/> found it. Null otherwise.</summary>
    public string? Replay { get; internal init; }
}
