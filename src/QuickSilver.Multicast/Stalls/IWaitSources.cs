using QuickSilver.Core.Flow;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Stalls;

// Where in a node something may wait for other nodes, for memory or for readers.
internal interface IWaitSources
{
    /// <summary>Streams that wait for acknowledgements.</summary>
    SentStreams Sent { get; }

    /// <summary>Topics of which a publisher waits for something other than its turn at a stream.</summary>
    IReadOnlyCollection<IFeed> WaitingTopics { get; }

    /// <summary>Which readers elsewhere make publishers here wait.</summary>
    CreditLimits CreditLimits { get; }

    /// <summary>Views of which the streams wait for repairs.</summary>
    List<RegionReceiver> OpenRegions { get; }

    /// <summary>Readers here that have no room.</summary>
    SlowReaders SlowReaders { get; }

    /// <summary>Pinned topics of which a view waits for the one before.</summary>
    IEnumerable<ViewSequence> WaitingViews { get; }

    /// <summary>Messages that others wait for which are here.</summary>
    IEnumerable<AwaitedMessage> AwaitedMessages { get; }
}
