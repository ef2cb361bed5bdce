using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Tool.Doctor.Checks;

// Buffers: Limits:BufferBytes. Received: Limits:ReceivedMessageBytes. Collector: what the garbage collector may use. Container: the limit
// of the control group; null: none. IsLimited: whether what the collector may use is a limit, and not the memory of the machine.
internal sealed record MemoryFacts(long Buffers, long Received, long Collector, long? Container, bool IsLimited = true);

// Whether the memory of a process suffices for its packet memory, which is outside the collector's heap, for the received messages in the
// heap, and for the rest.
internal static class MemoryCheck
{
    public const string Name = "memory";

    // The runtime and a small program.
    private const long OfProcess = 128L << 20;
    // The heap of a small program with a node, beside what the node keeps on it.
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
                + "process itself. Under load, the system kills it. Where less is enough, lower these limits.",
                OfContainer(facts));
        }

        if (facts.Collector < facts.Received + OfHeap)
        {
            return OfCollector(facts, received);
        }

        return Finding.Ok(
            Name,
            facts.Container is { } limit
                ? $"The container may use {BufferCheck.Size(limit)}, and {buffers} with {received} fits."
                : $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, of which {received}. Beside it is {buffers}.");
    }

    // Of received messages the heap has no more than the collector allows.
    private static long Needed(MemoryFacts facts) => facts.Buffers + Math.Min(facts.Received, facts.Collector) + OfProcess;

    private static Finding OfCollector(MemoryFacts facts, string received)
    {
        long needed = facts.Received + OfHeap;
        long lower = facts.Collector - OfHeap;
        string lowest = BufferCheck.Size(ReceivedShares.LeastBytes + OfHeap);
        string raise = facts.IsLimited ? $"Raise the limit of the heap to {BufferCheck.Size(needed)}" : "Use a machine with more memory";
        string otherwise = facts.Received <= ReceivedShares.LeastBytes ? ""
            : lower >= ReceivedShares.LeastBytes ? $", or, where less is enough, lower the option to {BufferCheck.Size(lower)}"
            : $". With the least value of the option, {BufferCheck.Size(ReceivedShares.LeastBytes)}, {lowest} suffice";
        return new Finding(
            Name,
            FindingStatus.Warning,
            $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, which is too little for {received} and "
            + $"{BufferCheck.Size(OfHeap)} of a program with a node. Where large messages or full readers use it up, messages wait for "
            + $"memory, and so do their senders. {raise}{otherwise}.",
            [
                .. facts.IsLimited ? ToRaise(facts, needed) : [],
                .. lower >= ReceivedShares.LeastBytes
                    ? [new Remedy($"export QuickSilver__Limits__ReceivedMessageBytes={lower}")]
                    : Array.Empty<Remedy>(),
            ]);
    }

    // A container that has no room for such a heap gets it first.
    private static IEnumerable<Remedy> ToRaise(MemoryFacts facts, long heap) =>
    [
        .. facts.Container < facts.Buffers + facts.Received + OfProcess ? OfContainer(facts) : [],
        new Remedy($"export DOTNET_GCHeapHardLimit=0x{heap:X}"),
    ];

    private static Remedy[] OfContainer(MemoryFacts facts)
    {
        long mebibytes = (facts.Buffers + facts.Received + OfProcess) >> 20;
        return [new Remedy($"docker update --memory {mebibytes}m --memory-swap {mebibytes}m CONTAINER", "the container's host")];
    }
}
