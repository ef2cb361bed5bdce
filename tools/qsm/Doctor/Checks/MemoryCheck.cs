namespace QuickSilver.Tool.Doctor.Checks;

// Buffers: Limits:BufferBytes. Collector: what the garbage collector may use. Container: the limit of the control group; null: none.
internal sealed record MemoryFacts(long Buffers, long Collector, long? Container);

// Whether the memory of a process suffices for its packet memory.
internal static class MemoryCheck
{
    public const string Name = "memory";

    // The runtime and a small program.
    private const long OfProcess = 128L << 20;
    // By default, the collector uses this part of a container's memory.
    private const double CollectorShare = 0.75;

    public static Finding Of(MemoryFacts facts)
    {
        string buffers = $"Limits:BufferBytes ({BufferCheck.Size(facts.Buffers)})";
        if (facts.Collector < facts.Buffers)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"The garbage collector may use {BufferCheck.Size(facts.Collector)}, which is less than {buffers}. A node does not start.",
                Remedy(facts));
        }

        if (facts.Container is { } container && container < facts.Buffers + OfProcess)
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"The container's memory limit is {BufferCheck.Size(container)}, which is too little for {buffers} and the process itself. "
                + "Under load, the system kills it.",
                Remedy(facts));
        }

        long limit = Math.Min(facts.Collector, facts.Container ?? long.MaxValue);
        return Finding.Ok(Name, $"A process may use {BufferCheck.Size(limit)}, and {buffers} fits.");
    }

    private static Remedy[] Remedy(MemoryFacts facts)
    {
        long mebibytes = (long)Math.Ceiling((facts.Buffers + OfProcess) / CollectorShare / (1 << 20));
        return facts.Container is null
            ? [new Remedy($"export DOTNET_GCHeapHardLimit=0x{(facts.Buffers + OfProcess) * 2:X}")]
            : [new Remedy($"docker update --memory {mebibytes}m --memory-swap {mebibytes}m CONTAINER", "the container's host")];
    }
}
