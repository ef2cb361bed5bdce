using System.Collections.Immutable;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;

namespace QuickSilver.Nodes.Measures;

// Puts together what a node and the layers below it count. From any thread, unless stated otherwise.
internal sealed class NodeReadings(INodeParts parts, NodeCounterCells cells, EndpointRegistry endpoints, GuardedLoggers logs)
{
    // The greatest count of accepted messages that was read.
    private long _accepted;
    private volatile bool _acceptedHasEnded;

    public NodeRates Rates { get; } = new(cells);

    /// <summary>What waits for a view or a codec; null before the first wait.</summary>
    public TopicWaits? Waits { get; set; }

    /// <summary>Null before the first topic.</summary>
    public NodePublishing? Publishing { get; set; }

    /// <summary>Core thread: brings up to date what changes by time alone.</summary>
    public void OnPulse(TimeSpan now)
    {
        parts.Multicast.Readings?.NoteTimes();
        Rates.Note(now, parts.Times?.Multicast.LimitsIfAny);
    }

    /// <summary>Core thread: the meter of the node, which reads from here on.</summary>
    /// <param name="cluster">The name of the cluster.</param>
    /// <param name="self">This node.</param>
    /// <param name="metered">The topics that have instruments of their own; null: none.</param>
    public NodeMeter BeginMeter(string cluster, NodeId self, MeteredTopics? metered)
    {
        var meter = new NodeMeter(cluster, self, parts.Name)
        {
            ReadCounts = ReadCounts,
            ReadGauges = ReadGauges,
            ReadAll = ReadAll,
            ReadTopics = metered is null ? static () => [] : metered.Read,
        };
        return meter.Begin();
    }

    /// <summary>All of it, with histograms, which are copied.</summary>
    public NodeCounters ReadAll()
    {
        var counters = ReadCounts();
        return parts.Times is { } times
            ? counters with
            {
                CoreThread = Readings.Of(times.Core),
                AlarmLateness = Readings.Of(times.Core.AlarmLateness),
                TokenRoundTrip = Readings.Of(times.Multicast.TokenRoundTrips),
                TimeToAggregate = Readings.Of(times.Multicast.TimesToAggregate),
                TimeToAcknowledge = Readings.Of(times.Multicast.TimesToAcknowledge),
                SendLimits = Readings.Of(times.Multicast.Limits),
            }
            : counters;
    }

    /// <summary>The single numbers alone.</summary>
    public NodeCounters ReadCounts()
    {
        var below = parts.ReadCounters();
        ImmutableArray<long> failures = [.. cells.RequestFailures];
        return new NodeCounters
        {
            Accepted = ReadAccepted(),
            Published = Volatile.Read(ref cells.Published),
            PublishedBytes = Volatile.Read(ref cells.PublishedBytes),
            PublishWaits = Volatile.Read(ref cells.PublishWaits),
            PublishDrops = Volatile.Read(ref cells.PublishDrops),
            Unacknowledged = Volatile.Read(ref cells.Unacknowledged),
            Delivered = Volatile.Read(ref cells.Delivered),
            DeliveredBytes = Volatile.Read(ref cells.DeliveredBytes),
            Gaps = Volatile.Read(ref cells.Gaps),
            ReaderDrops = Volatile.Read(ref cells.ReaderDrops),
            Unhandled = Volatile.Read(ref cells.Unhandled),
            HandlerFaults = Volatile.Read(ref cells.HandlerFaults),
            FeedFaults = Volatile.Read(ref cells.FeedFaults),
            DecodeFaults = Volatile.Read(ref cells.DecodeFaults),
            BlockingHandlers = Volatile.Read(ref cells.BlockingHandlers),
            ConsumerRetries = Volatile.Read(ref cells.ConsumerRetries),
            ConsumerSkips = Volatile.Read(ref cells.ConsumerSkips),
            ConsumerFailures = Volatile.Read(ref cells.ConsumerFailures),
            Requests = Volatile.Read(ref cells.Requests),
            RequestsAnswered = Volatile.Read(ref cells.RequestsAnswered),
            RequestsFailed = failures.Sum(),
            RequestFailures = failures,
            Replies = Volatile.Read(ref cells.Replies),
            RepliesFailed = Volatile.Read(ref cells.RepliesFailed),
            RepliesExpired = Volatile.Read(ref cells.RepliesExpired),
            SnapshotsGiven = Volatile.Read(ref cells.SnapshotsGiven),
            SnapshotsTaken = Volatile.Read(ref cells.SnapshotsTaken),
            LogFaults = logs.Faults,
            ListenerFaults = ListenerFaults.Count,
            PacketsSent = below.PacketsSent,
            PacketsReceived = below.PacketsReceived,
            PacketsDropped = below.PacketsDropped,
            ConfigurationsApplied = below.ConfigurationsApplied,
            PacketDrops = below.Drops.IsDefault ? [] : below.Drops,
            DiscoveryDrops = below.DiscoveryDrops.IsDefault ? [] : below.DiscoveryDrops,
            Repairs = below.Repairs,
            Stalls = below.Stalls + (Waits?.Stalls ?? 0),
            KernelDrops = below.KernelDrops,
            RepairRequests = below.RepairRequests,
            CollectiveNaksSent = below.CollectiveNaksSent,
            CollectiveNaksReceived = below.CollectiveNaksReceived,
            CopiesSent = below.CopiesSent,
            MessagesWithoutRight = below.MessagesWithoutRight,
            SendsWithoutKey = below.SendsWithoutKey,
            SharedPacketsSent = below.SharedPacketsSent,
            SendsSaved = below.SendsSaved,
            SharedPacketsReceived = below.SharedPacketsReceived,
            LongSteps = below.LongSteps,
            PauseTime = below.PauseTime,
            LongestPause = below.LongestPause,
            PausesNotRunning = below.PausesNotRunning,
            PausesOfCollector = below.PausesOfCollector,
            PausesOfCompiler = below.PausesOfCompiler,
            PausesOfHandlers = below.PausesOfHandlers,
            PausesTold = below.PausesTold,
            QuantaExceeded = below.QuantaExceeded,
            LateAlarms = below.LateAlarms,
            CollectorPauseTime = below.CollectorPauseTime,
            PoolStarvations = below.PoolStarvations,
            ReceiveTime = below.ReceiveTime,
            AlarmTime = below.AlarmTime,
            RequestTime = below.RequestTime,
        };
    }

    /// <summary>The node has ended, and its core thread may not answer any more. What waits counts as dropped from now on.</summary>
    public void EndAccepted()
    {
        _ = ReadAccepted();
        _acceptedHasEnded = true;
    }

    // The parts are read one after the other, what was sent and dropped first: a message that is sent meanwhile may not be counted, and is
    // never counted twice. A counter does not fall all the same.
    private long ReadAccepted()
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

    public NodeGauges ReadGauges()
    {
        var below = parts.ReadCounters();
        long waiting = 0;
        endpoints.ReadWaiting((_, messages) => waiting += messages);
        return new NodeGauges
        {
            PublishQueueBytes = Publishing?.QueuedBytes ?? 0,
            PublishQueueMessages = Publishing?.QueuedMessages ?? 0,
            WaitingForReaders = waiting,
            RequestsWaiting = RequestsWaiting(),
            StateKeys = cells.StateKeys.Sum,
            UnacknowledgedBytes = below.UnackedBytes,
            Regions = below.Regions,
            UnheardSenders = below.UnheardSenders,
            DeafMembers = below.DeafMembers,
            SmallPaths = below.SmallPaths,
            SmallestPathBytes = below.SmallestPathBytes,
            PacketMemoryBytes = below.PacketMemoryBytes,
            PendingPackets = below.PendingPackets,
            PublishedPerSecond = Rates.PublishedPerSecond,
            DeliveredPerSecond = Rates.DeliveredPerSecond,
            SendLimit = Rates.Limit,
            SendLimitShare = Rates.LimitShare,
            Configuration = below.Configuration,
            ConfigurationAge = below.ConfigurationAge,
            Views = below.Views,
            SupersededViews = below.SupersededViews,
            OldestSupersededView = below.OldestSupersededView,
        };
    }

    // What has ended is read first, so that the difference is never negative. Requests that were refused were never begun.
    private long RequestsWaiting()
    {
        long ended = Volatile.Read(ref cells.RequestsAnswered);
        for (int kind = 0; kind < cells.RequestFailures.Length; kind++)
        {
            ended += kind == RequestFailure.TooMany ? 0 : Volatile.Read(ref cells.RequestFailures[kind]);
        }

        return Volatile.Read(ref cells.Requests) - ended;
    }
}
