namespace QuickSilver.Core.Storage.Machine;

// What a disk does for a log or for the node, and how its end comes back. The core thread writes its fields before it submits it and after
// its end, the thread of its lane in between. So it can be submitted again once it has ended.
internal abstract class DiskWork
{
    /// <summary>On the thread of the lane: does it, and keeps what it throws.</summary>
    internal abstract void Perform();

    /// <summary>On the core thread: notifies the one that asked for it, which may submit the next within.</summary>
    internal abstract void Complete();
}
