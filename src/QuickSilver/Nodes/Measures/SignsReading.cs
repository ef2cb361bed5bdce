using System.Collections.Immutable;
using System.Runtime.InteropServices;
using System.Text;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Topics;

namespace QuickSilver.Nodes.Measures;

// What a node reports about itself when an observer watches: its counters since the last report, its levels, and the busiest of its
// regions and topics. Nothing is kept while no observer watches. Core thread only.
internal sealed class SignsReading(
    NodeReadings readings,
    INodeParts parts,
    QuickSilverOptions options,
    IReadOnlyList<TopicCore> topics,
    Func<NodeStatus> status,
    Action<List<ProtocolSnapshot>> protocols)
{
    // An observer asks at least once a minute. After this, rates since the last reading would say nothing about the present.
    private static readonly TimeSpan Rest = TimeSpan.FromSeconds(90);

    private readonly Dictionary<TopicCore, (long Published, long Delivered)> _topicsBefore = [];
    private readonly List<RegionSnapshot> _regions = [];
    private readonly List<ProtocolSnapshot> _ofProtocols = [];
    private readonly FigureChanges _changes = new(readings);
    private TimeSpan? _readAt;

    private INodeEnvironment Environment => parts.Environment;

    /// <param name="rows">The most rows of regions, and of topics.</param>
    public NodeSnapshot Read(int rows)
    {
        RestIfUnwatched();
        rows = Math.Clamp(rows, 0, NodeSnapshot.MostRows);
        var now = Environment.Now;
        parts.Multicast.Readings?.NoteTimes();
        var span = now - (_readAt ?? now);
        var signs = ReadSigns(readings.ReadGauges(), span);
        _readAt = now;
        _regions.Clear();
        parts.Multicast.Readings?.ReadRegions(span, rows, _regions);
        signs = WithReasons(signs) with { RegionRows = [.. _regions], TopicRows = ReadTopics(span, rows) };
        return signs.WithProtocols(ReadProtocols(rows));
    }

    /// <summary>Called from time to time: forgets the last reading when no observer has watched for long.</summary>
    public void RestIfUnwatched()
    {
        if (_readAt is { } readAt && Environment.Now - readAt > Rest)
        {
            _readAt = null;
            _changes.Forget();
            _topicsBefore.Clear();
            parts.Multicast.Readings?.ReadRegions(TimeSpan.Zero, 0, []);
        }
    }

    private NodeSnapshot ReadSigns(NodeGauges levels, TimeSpan span)
    {
        var acks = _changes.Of(NodeFigures.TimeToAcknowledge)[0];
        return new NodeSnapshot
        {
            SpanMillis = (long)span.TotalMilliseconds,
            Published = PerSecond(_changes.Of(NodeFigures.Published), span),
            Delivered = PerSecond(_changes.Of(NodeFigures.Delivered), span),
            PublishedBytes = PerSecond(_changes.Of(NodeFigures.PublishedBytes), span),
            DeliveredBytes = PerSecond(_changes.Of(NodeFigures.DeliveredBytes), span),
            PendingPackets = levels.PendingPackets,
            RetentionBytes = levels.UnacknowledgedBytes,
            RetentionLimitBytes = options.Limits.RetentionBytes,
            MemoryBytes = levels.PacketMemoryBytes,
            MemoryLimitBytes = options.Limits.BufferBytes,
            QueueBytes = levels.PublishQueueBytes,
            QueueMessages = levels.PublishQueueMessages,
            Regions = levels.Regions,
            Topics = topics.Count,
            Views = levels.Views,
            SupersededViews = levels.SupersededViews,
            OldestSupersededMillis = (long)levels.OldestSupersededView.TotalMilliseconds,
            Configuration = levels.Configuration,
            AckMedian = Micros(acks.Percentile(0.5)),
            AckNinetyNinth = Micros(acks.Percentile(0.99)),
            TokenMedian = Micros(_changes.Of(NodeFigures.TokenRoundTrip)[0].Percentile(0.5)),
            AggregateMedian = Micros(Highest(_changes.Of(NodeFigures.TimeToAggregate))),
            LatenessNinetyNinth = Micros(_changes.Of(NodeFigures.AlarmLateness)[0].Percentile(0.99)),
            CollectorPause = Micros(_changes.Of(NodeFigures.CollectorPauseTime)),
            BusyPerMille = PerMille(_changes.OfAll(NodeFigures.CoreQueues), span),
            Limit = (long)levels.SendLimit,
            LimitPerMille = (long)Math.Round(levels.SendLimitShare * 1000),
            LongSteps = _changes.Of(NodeFigures.LongSteps),
            QuantaExceeded = _changes.Of(NodeFigures.QuantaExceeded),
            RepairRequests = _changes.Of(NodeFigures.RepairRequests),
            Repairs = _changes.Of(NodeFigures.Repairs),
            CollectiveNaks = _changes.Of(NodeFigures.CollectiveNaksReceived),
            KernelDrops = _changes.Of(NodeFigures.KernelDrops),
            Gaps = NodeFigures.Gaps.Read(readings),
        };
    }

    // The report says for how long, and not since when: the clocks of machines differ.
    private NodeSnapshot WithReasons(NodeSnapshot signs)
    {
        var now = status();
        var time = Environment.UtcNow;
        return signs with
        {
            HeldRows =
            [
                .. now.HeldTopics.Take(NodeSnapshot.MostHeld).Select(
                    static held => new HeldSnapshot(Cut(held.Topic, TopicSnapshot.MaxNameBytes))
                    {
                        PerThousandSeconds = (long)(held.MessagesPerSecond * 1000),
                        Reader = held.ReaderName.Length > 0 ? held.ReaderName : $"{held.Reader}",
                    }),
            ],
            Trouble = Cut(StatusReading.Shortened(now) ?? "", NodeSnapshot.MaxTroubleBytes),
            ReasonRows =
            [
                .. now.Reasons.Take(NodeSnapshot.MostReasons).Select(
                    reason => new ReasonSnapshot(Cut(reason.Description, ReasonSnapshot.MaxWhatBytes))
                    {
                        Kind = (long)reason.Kind,
                        WaitsFor = Cut(reason.WaitsFor ?? "", ReasonSnapshot.MaxWaitsForBytes),
                        SinceMillis = Math.Max(0, (long)(time - reason.Since).TotalMilliseconds),
                    }),
            ],
        };
    }

    // Those that wait come first: they are what an observer looks for.
    private List<ProtocolSnapshot> ReadProtocols(int most)
    {
        _ofProtocols.Clear();
        protocols(_ofProtocols);
        return
        [
            .. _ofProtocols.OrderByDescending(static row => row.IsWaiting)
                .ThenBy(static row => row.Topic, StringComparer.Ordinal)
                .Take(most)
                .Select(static row => row with
                {
                    Guarantee = Cut(row.Guarantee, ProtocolSnapshot.MaxGuaranteeBytes),
                    Topic = Cut(row.Topic, TopicSnapshot.MaxNameBytes),
                    Orderer = Cut(row.Orderer, ProtocolSnapshot.MaxNodesBytes),
                    Donor = Cut(row.Donor, ProtocolSnapshot.MaxNodesBytes),
                    Takers = Cut(row.Takers, ProtocolSnapshot.MaxNodesBytes),
                }),
        ];
    }

    // The median of the highest level with samples.
    private static TimeSpan Highest(ImmutableArray<TimeHistogram> levels) =>
        (levels.LastOrDefault(static level => level.Count > 0) ?? TimeHistogram.Empty).Percentile(0.5);

    private ImmutableArray<TopicSnapshot> ReadTopics(TimeSpan span, int most)
    {
        if (_topicsBefore.Count > 2 * topics.Count)
        {
            // Most of them are closed.
            _topicsBefore.Clear();
        }

        // The least busy of the best comes out first.
        var best = new PriorityQueue<TopicCore, (long Load, int Order)>(most + 1);
        var rates = new Dictionary<TopicCore, (long Published, long Delivered)>(most + 1);
        for (int i = 0; i < topics.Count && most > 0; i++)
        {
            var topic = topics[i];
            ref var before = ref CollectionsMarshal.GetValueRefOrAddDefault(_topicsBefore, topic, out bool isKnown);
            var now = (topic.Published, topic.Delivered);
            var rate = isKnown
                ? (PerSecond(now.Published - before.Published, span), PerSecond(now.Delivered - before.Delivered, span))
                : (0, 0);
            before = now;
            rates[topic] = rate;
            best.Enqueue(topic, (rate.Item1 + rate.Item2, -i));
            if (best.Count > most)
            {
                rates.Remove(best.Dequeue());
            }
        }

        var rows = ImmutableArray.CreateBuilder<TopicSnapshot>(best.Count);
        while (best.TryDequeue(out var topic, out _))
        {
            rows.Add(new TopicSnapshot(Cut(topic.Name, TopicSnapshot.MaxNameBytes))
            {
                Published = rates[topic].Published,
                Delivered = rates[topic].Delivered,
                Subscribers = topic.Subscribers,
                Limit = (long)topic.SendLimit,
            });
        }

        rows.Reverse();
        return rows.DrainToImmutable();
    }

    /// <summary>The beginning of a text, of at most so many bytes of UTF-8.</summary>
    internal static string Cut(string text, int bytes)
    {
        if (Encoding.UTF8.GetByteCount(text) <= bytes)
        {
            return text;
        }

        const string More = "…";
        int left = bytes - Encoding.UTF8.GetByteCount(More);
        int end = 0;
        foreach (var rune in text.EnumerateRunes())
        {
            if ((left -= rune.Utf8SequenceLength) < 0)
            {
                break;
            }

            end += rune.Utf16SequenceLength;
        }

        return text[..end] + More;
    }

    private static long PerSecond(long count, TimeSpan span) =>
        span > TimeSpan.Zero ? (long)Math.Round(Math.Max(0, count) / span.TotalSeconds) : 0;

    private static long PerMille(TimeSpan time, TimeSpan span) =>
        span > TimeSpan.Zero ? (long)Math.Round(Math.Max(0, time / span) * 1000) : 0;

    private static long Micros(TimeSpan time) => Math.Max(0, (long)time.TotalMicroseconds);
}
