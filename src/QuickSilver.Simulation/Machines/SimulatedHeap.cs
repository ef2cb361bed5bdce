using QuickSilver.Core.Environment;

namespace QuickSilver.Simulation.Machines;

// The collector's heap of a machine, which refuses what a fault says.
internal sealed class SimulatedHeap : NodeHeap
{
    /// <summary>Whether memory for this use, of so many bytes, is refused; null: nothing is.</summary>
    public Func<HeapUse, long, bool>? Refuses { get; set; }

    public override long Room => Refuses is null ? long.MaxValue : 0;

    public override void Ask(HeapUse use, long bytes)
    {
        if (Refuses?.Invoke(use, bytes) == true)
        {
            throw new OutOfMemoryException($"The simulated heap refuses {bytes} bytes for {use}.");
        }
    }
}
