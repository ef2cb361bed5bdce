namespace QuickSilver.Core.Environment;

// What memory of the collector's heap is for, on the way of a message.
internal enum HeapUse
{
    // The tables of a stream: its packets, and what is missing.
    StreamTables,
    // A message that spans packets: its entry, its bytes, its start table.
    OpenMessage,
    MessageBytes,
    StartTable,
    // The run of a sender in a topic.
    SenderRun,
    // A message that waits for an earlier one.
    HeldMessage,
    // A message that waits for room in a reader.
    ParkedMessage,
    ParkedBytes,
    // What a reader has not taken.
    ReaderBuffer,
    // The tables of a stream that is sent: its packets, its beginnings, and the waits until it is stable.
    SenderTables,
    // A message to publish that makes way for those of other topics.
    QueuedMessage,
}

// The collector's heap, as a node sees it. The collector itself refuses memory: under DOTNET_GCHeapHardLimit, or in a container. Code on
// the way of a message asks before it allocates on the core thread, so that a simulation can refuse the same at each place.
internal class NodeHeap
{
    /// <summary>The heap of the process.</summary>
    public static readonly NodeHeap OfProcess = new();

    /// <summary>The bytes that the heap may still grow by, as the last collection found it. A refusal comes after one.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory to find out.</exception>
    public virtual long Room
    {
        get
        {
            var last = GC.GetGCMemoryInfo(GCKind.Any);
            return last.TotalAvailableMemoryBytes - last.HeapSizeBytes;
        }
    }

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public virtual void Ask(HeapUse use, long bytes)
    {
    }
}
