using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Diagnostics.Figures;

// What the figures of a node are read from: its own cells, those of the layers below, and what is computed. From any thread.
internal interface IFigureSource
{
    NodeCounterCells Cells { get; }

    CoreCounters Core { get; }

    ClientCounters Membership { get; }

    MulticastCounters Multicast { get; }

    /// <summary>What was sent and is not known to be held by all members.</summary>
    RetentionBudget Retention { get; }

    /// <summary>Messages accepted of publishers.</summary>
    long ReadAccepted();

    /// <summary>Of these, the messages that wait to be sent.</summary>
    long QueuedMessages { get; }

    long QueuedBytes { get; }

    /// <summary>Messages that wait for readers and consumers.</summary>
    long ReaderWaiting { get; }

    long RequestsWaiting { get; }

    /// <summary>Waits without progress that lasted too long, of all layers.</summary>
    long Stalls { get; }

    long SmallestPathBytes { get; }

    long PacketMemoryBytes { get; }

    long PoolStarvations { get; }

    long LogFaults { get; }

    /// <summary>Empty if no topic is named.</summary>
    IReadOnlyList<TopicCounts> ReadTopics();
}
