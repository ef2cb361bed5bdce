namespace QuickSilver.Tool.Doctor.Checks;

// Buffers: Limits:BufferBytes. Collector: what the garbage collector may use. Container: the limit of the control group; null: none.
internal sealed record MemoryFacts(long Buffers, long Collector, long? Container);

// Whether the memory of a process suffices for its packet memory, which is outside the collector's heap, and for the heap.
internal static class MemoryCheck
{
    public const string Name = "memory";

    // The runtime and a small program.
    private const long OfProcess = 128L << 20;
    // The heap of a small program with a node.
    private const long OfHeap = 64L << 20;

    public static Finding Of(MemoryFacts facts)
    {
        string buffers = $"Limits:BufferBytes ({BufferCheck.Size(facts.Buffers)})";
        if (facts.Container is { } container && container < facts.Buffers + OfProcess)
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"The container's memory limit is {BufferCheck.Size(container)}, which is too little for {buffers} and the process itself. "
                + "Under load, the system kills it.",
                Remedy(facts));
        }

        if (facts.Collector < OfHeap)
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, which is too little for a program with a node. "
                + "Large messages and slow readers end in an OutOfMemoryException.",
                [new Remedy($"export DOTNET_GCHeapHardLimit=0x{OfHeap:X}")]);
        }

        return Finding.Ok(
            Name,
            facts.Container is { } limit
                ? $"The container may use {BufferCheck.Size(limit)}, and {buffers} fits."
                : $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, and {buffers} is beside it.");
    }

    private static Remedy[] Remedy(MemoryFacts facts)
    {
        long mebibytes = (facts.Buffers + OfProcess) >> 20;
        return [new Remedy($"docker update --memory {mebibytes}m --memory-swap {mebibytes}m CONTAINER", "the container's host")];
    }
}
