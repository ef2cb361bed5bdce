namespace QuickSilver.Tool.Doctor.Checks;

// Buffers: Limits:BufferBytes. Received: Limits:ReceivedMessageBytes. Collector: what the garbage collector may use. Container: the limit
// of the control group; null: none.
internal sealed record MemoryFacts(long Buffers, long Received, long Collector, long? Container);

// Whether the memory of a process suffices for its packet memory, which is outside the collector's heap, for the received messages in the
// heap, and for the rest.
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
        string received = $"Limits:ReceivedMessageBytes ({BufferCheck.Size(facts.Received)})";
        if (facts.Container is { } container && container < Needed(facts))
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"The container's memory limit is {BufferCheck.Size(container)}, which is too little for {buffers}, {received} and the "
                + "process itself. Under load, the system kills it. Where less is enough, lower these limits or that of the collector's "
                + "heap.",
                Remedy(facts));
        }

        if (facts.Collector < OfHeap)
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, which is too little for a program with a node. "
                + "Large messages and slow readers make senders wait.",
                [new Remedy($"export DOTNET_GCHeapHardLimit=0x{OfHeap:X}")]);
        }

        return Finding.Ok(
            Name,
            facts.Container is { } limit
                ? $"The container may use {BufferCheck.Size(limit)}, and {buffers} with {received} fits."
                : $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, of which {received}. Beside it is {buffers}.");
    }

    // Of received messages the heap has no more than the collector allows.
    private static long Needed(MemoryFacts facts) => facts.Buffers + Math.Min(facts.Received, facts.Collector) + OfProcess;

    private static Remedy[] Remedy(MemoryFacts facts)
    {
        long mebibytes = (facts.Buffers + facts.Received + OfProcess) >> 20;
        return [new Remedy($"docker update --memory {mebibytes}m --memory-swap {mebibytes}m CONTAINER", "the container's host")];
    }
}
