using QuickSilver.Core.Environment;

namespace QuickSilver.Tests.Infrastructure;

// Counts what is asked for on the way from the publishers to the senders, and refuses it.
internal sealed class RefusingHeap : NodeHeap
{
    public bool Refuses { get; set; }

    public int Asked { get; private set; }

    public override void Ask(HeapUse use, long bytes)
    {
        Assert.True(use is HeapUse.QueuedMessage or HeapUse.SenderTables, $"{use}");
        Asked++;
        if (Refuses)
        {
            throw new OutOfMemoryException("a test");
        }
    }
}
