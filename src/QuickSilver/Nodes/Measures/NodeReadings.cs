using QuickSilver.Composition;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Nodes.Measures;

// Puts together what a node and the layers below it count. From any thread, unless stated otherwise.
internal sealed class NodeReadings(INodeParts parts, NodeCounterCells cells, EndpointRegistry endpoints, GuardedLoggers logs)
    : IFigureSource
{
    // The greatest count of accepted messages that was read.
    private long _accepted;
    private volatile bool _acceptedHasEnded;
    // Null: no topic is named.
    private MeteredTopics? _metered;

    public NodeCounterCells Cells => cells;

    public CoreCounters Core => parts.Counters.Core;

    public ClientCounters Membership => parts.Counters.Membership;

    public MulticastCounters Multicast => parts.Counters.Multicast;

    public RetentionBudget Retention => parts.Counters.Retention;

    public long SmallestPathBytes => parts.Counters.SmallestPathBytes;

    public long QueuedMessages => Publishing?.QueuedMessages ?? 0;

    public long QueuedBytes => Publishing?.QueuedBytes ?? 0;

    public long Stalls => Multicast.Stalls + (Waits?.Stalls ?? 0);

    public long LogFaults => logs.Faults;

    public long PoolStarvations => parts.PoolStarvations;

    public long PacketMemoryBytes => parts.Environment.Buffers.LeasedBlocks * SlabPool.BlockBytes;

    public NodeRates Rates { get; } = new(cells);

    /// <summary>What waits for a view or a codec; null before the first wait.</summary>
    public TopicWaits? Waits { get; set; }

    /// <summary>Null before the first topic.</summary>
    public NodePublishing? Publishing { get; set; }

    /// <summary>Core thread: brings up to date what changes by time alone.</summary>
    public void OnPulse(TimeSpan now)
    {
        parts.Multicast.Readings?.NoteTimes();
        Rates.Note(now, Multicast.LimitsIfAny);
    }

    /// <summary>Core thread: the meter of the node, which reads from here on.</summary>
    /// <param name="cluster">The name of the cluster.</param>
    /// <param name="self">This node.</param>
    /// <param name="metered">The topics that have instruments of their own; null: none.</param>
    public NodeMeter BeginMeter(string cluster, NodeId self, MeteredTopics? metered)
    {
        Volatile.Write(ref _metered, metered);
        return new NodeMeter(cluster, self, parts.Name) { Source = this }.Begin();
    }

    public NodeCounters ReadCounters() => new()
    {
        Published = NodeFigures.Published.Read(this),
        PublishedBytes = NodeFigures.PublishedBytes.Read(this),
        PublishDrops = NodeFigures.PublishDrops.Read(this),
        Unacknowledged = NodeFigures.Unacknowledged.Read(this),
        Delivered = NodeFigures.Delivered.Read(this),
        DeliveredBytes = NodeFigures.DeliveredBytes.Read(this),
        Gaps = NodeFigures.Gaps.Read(this),
        ReaderDrops = NodeFigures.ReaderDrops.Read(this),
        Unhandled = NodeFigures.Unhandled.Read(this),
        HandlerFaults = NodeFigures.HandlerFaults.Read(this),
        Requests = NodeFigures.Requests.Read(this),
        RequestsAnswered = NodeFigures.RequestsAnswered.Read(this),
        RequestsFailed = NodeFigures.RequestsFailed.Read(this).Sum(static failed => failed.Value),
        ConfigurationsApplied = NodeFigures.ConfigurationsApplied.Read(this),
        Stalls = NodeFigures.Stalls.Read(this),
    };

    public NodeGauges ReadGauges() => new()
    {
        PublishQueueBytes = NodeFigures.PublishQueue.Read(this),
        PublishQueueMessages = NodeFigures.PublishWaiting.Read(this),
        WaitingForReaders = NodeFigures.ReaderWaiting.Read(this),
        RequestsWaiting = NodeFigures.RequestsWaiting.Read(this),
        StateKeys = NodeFigures.StateKeys.Read(this),
        UnacknowledgedBytes = NodeFigures.UnacknowledgedBytes.Read(this),
        Regions = NodeFigures.Regions.Read(this),
        UnheardSenders = NodeFigures.UnheardSenders.Read(this),
        DeafMembers = NodeFigures.DeafMembers.Read(this),
        SmallPaths = NodeFigures.SmallPaths.Read(this),
        SmallestPathBytes = NodeFigures.SmallestPathBytes.Read(this),
        PacketMemoryBytes = NodeFigures.PacketMemory.Read(this),
        PendingPackets = NodeFigures.PendingPackets.Read(this),
        PublishedPerSecond = Rates.PublishedPerSecond,
        DeliveredPerSecond = Rates.DeliveredPerSecond,
        SendLimit = Rates.Limit,
        SendLimitShare = Rates.LimitShare,
        Configuration = Multicast.Configuration,
        ConfigurationAge = NodeFigures.ConfigurationAge.Read(this),
        Views = NodeFigures.Views.Read(this),
        SupersededViews = NodeFigures.SupersededViews.Read(this),
        OldestSupersededView = NodeFigures.OldestSupersededView.Read(this),
    };

    public IReadOnlyList<TopicCounts> ReadTopics() => Volatile.Read(ref _metered)?.Read() ?? [];

    /// <summary>The node has ended, and its core thread may not answer any more. What waits counts as dropped from now on.</summary>
    public void EndAccepted()
    {
        _ = ReadAccepted();
        _acceptedHasEnded = true;
    }

    // The parts are read one after the other, what was sent and dropped first: a message that is sent meanwhile may not be counted, and is
    // never counted twice. A counter does not fall all the same.
    public long ReadAccepted()
    {
        long ended = Volatile.Read(ref cells.Published) + Volatile.Read(ref cells.PublishDrops);
        long now = _acceptedHasEnded ? 0 : ended + (Publishing?.QueuedMessages ?? 0);
        long before = Volatile.Read(ref _accepted);
        while (now > before)
        {
            long found = Interlocked.CompareExchange(ref _accepted, now, before);
            if (found == before)
            {
                return now;
            }

            before = found;
        }

        return before;
    }

    public long ReaderWaiting
    {
        get
        {
            long waiting = 0;
            endpoints.ReadWaiting((_, messages) => waiting += messages);
            return waiting;
        }
    }

    // What has ended is read first, so that the difference is never negative. Requests that were refused were never begun.
    public long RequestsWaiting
    {
        get
        {
            long ended = Volatile.Read(ref cells.RequestsAnswered);
            for (int kind = 0; kind < cells.RequestFailures.Length; kind++)
            {
                ended += kind == RequestFailure.TooMany ? 0 : Volatile.Read(ref cells.RequestFailures[kind]);
            }

            return Volatile.Read(ref cells.Requests) - ended;
        }
    }
}
