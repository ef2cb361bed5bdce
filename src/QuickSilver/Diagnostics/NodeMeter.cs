using System.Diagnostics.Metrics;

namespace QuickSilver.Diagnostics;

/// <summary>What the meter tells of one node: its readings and its tags, from the start of the node to its end.</summary>
internal sealed class NodeMeter : IDisposable
{
    public const string Name = "QuickSilver";

    // The tags of each measurement, after its own.
    private readonly KeyValuePair<string, object?>[] _tags;

    /// <param name="cluster">The value of a tag that all measurements have.</param>
    /// <param name="node">The value of another, which tells the nodes of one process apart.</param>
    public NodeMeter(string cluster, NodeId node) =>
        _tags = [new("quicksilver.cluster", cluster), new("quicksilver.node.id", node.ToString())];

    /// <summary>Reads the counters, without histograms.</summary>
    public required Func<NodeCounters> ReadCounts { get; init; }

    public required Func<NodeGauges> ReadGauges { get; init; }

    /// <summary>Reads the counters with histograms.</summary>
    public required Func<NodeCounters> ReadAll { get; init; }

    /// <summary>Reads the counts of topics. By default, the meter names no topics.</summary>
    public Func<IReadOnlyList<TopicCounts>> ReadTopics { get; init; } = static () => [];

    /// <summary>From now on, collections read this node.</summary>
    public NodeMeter Begin()
    {
        NodeInstruments.Add(this);
        return this;
    }

    public void RecordStable(TimeSpan time) => NodeInstruments.RecordStable(time, _tags);

    public Measurement<T> Measure<T>(T value, params KeyValuePair<string, object?>[] own)
        where T : struct =>
        new(value, [.. own, .. _tags]);

<<<<<<< HEAD
    public void Dispose() => NodeInstruments.Remove(this);
=======
    private void AddTopics(Func<IReadOnlyList<TopicCounts>> topics)
    {
        _meter.CreateObservableCounter(
            "quicksilver.topic.sent", () => Each(static one => one.Published), "{message}", "Messages sent by this node, by topic.");
        _meter.CreateObservableCounter(
            "quicksilver.topic.consumed", () => Each(static one => one.Delivered), "{message}", "Messages delivered here, by topic.");
        _meter.CreateObservableCounter(
            "quicksilver.topic.lost", () => Each(static one => one.Lost), "{message}", "Messages that never come here, by topic.");
        _meter.CreateObservableGauge(
            "quicksilver.topic.waiting", () => Each(static one => one.Waiting), "{message}", "Messages waiting for readers, by topic.");

        IEnumerable<Measurement<long>> Each(Func<TopicCounts, long> value) =>
            topics().Select(one => Tagged(value(one), "messaging.destination.name", one.Name));
    }

    private Measurement<long> Tagged(long value, string tag, string name) => new(value, [new(tag, name), .. _node]);

    // One series for each queue and for each limit.
    private void AddShares(Func<NodeCounters> all)
    {
        Series(
            "quicksilver.core.queue.time",
            "Time of the core thread by queue.",
            "quicksilver.core.queue",
            [
                "inbound_control", "inbound_repairs", "inbound_data", "alarms", "requests",
                "outbound_control", "outbound_data", "disk", "other",
            ],
            () => QueuesOf(all().CoreThread));
        Series(
            "quicksilver.send.limited.time",
            "Time for which streams were kept from sending, by what kept them.",
            "quicksilver.send.limit",
            ["turn", "window", "rate", "reader", "memory", "view", "socket"],
            () => LimitsOf(all().SendLimits));
    }

    private static TimeSpan[] QueuesOf(CoreThreadTimes times) =>
    [
        times.InboundControl, times.InboundRepairs, times.InboundData, times.Alarms, times.Requests,
        times.OutboundControl, times.OutboundData, times.Disk, times.Other,
    ];

    private static TimeSpan[] LimitsOf(SendLimitTimes times) =>
        [times.Turn, times.Window, times.Rate, times.Reader, times.Memory, times.View, times.Socket];

    // There is no histogram that is observed. A histogram that is recorded takes a lock for each sample, and these are sampled on the core
    // thread. So each is a counter with one series per limit, as Prometheus stores histograms.
    private void AddHistograms(Func<NodeCounters> all)
    {
        Samples("quicksilver.core.alarm.lateness", "{alarm}", "Alarms by how late they fired.", () => [all().AlarmLateness]);
        Samples(
            "quicksilver.acknowledgement.duration",
            "{packet}",
            "Packets by the time until all held them.",
            () => [all().TimeToAcknowledge]);
        Samples("quicksilver.token.duration", "{round}", "Rounds of tokens by their time.", () => all().TokenRoundTrip);
        Samples("quicksilver.aggregation.duration", "{packet}", "Packets by the time to aggregate.", () => all().TimeToAggregate);
    }

    /// <summary>Whether a listener wants to know how long a message takes to become stable.</summary>
    public bool IsLatencyWatched => _publishToStable.Enabled;

    public void RecordStable(TimeSpan time) => _publishToStable.Record(time.TotalSeconds, _node[0], _node[1]);

    public void Dispose() => _meter.Dispose();

    private void Count(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableCounter(name, () => new Measurement<long>(read(), _node), unit, description);

    private void Time(string name, string description, Func<TimeSpan> read) =>
        _meter.CreateObservableCounter(name, () => new Measurement<double>(read().TotalSeconds, _node), "s", description);

    private void Age(string name, string description, Func<TimeSpan> read) =>
        _meter.CreateObservableGauge(name, () => new Measurement<double>(read().TotalSeconds, _node), "s", description);

    private void Series(string name, string description, string tag, string[] values, Func<TimeSpan[]> read) =>
        _meter.CreateObservableCounter(
            name,
            () => read().Select((time, i) =>
                new Measurement<double>(time.TotalSeconds, [new(tag, values[i]), .. _node])),
            "s",
            description);

    private void Samples(string name, string unit, string description, Func<IReadOnlyList<TimeHistogram>> read) =>
        _meter.CreateObservableCounter(name, () => Samples(read()), unit, description);

    // Samples up to each limit, by level where there are several.
    private IEnumerable<Measurement<long>> Samples(IReadOnlyList<TimeHistogram> levels)
    {
        for (int level = 0; level < levels.Count; level++)
        {
            if (levels.Count > 1 && levels[level].Count == 0)
            {
                continue;
            }

            long count = 0;
            for (int i = 0; i < TimeHistogram.Classes; i++)
            {
                count += levels[level].Counts[i];
                if (i % ClassStep == 1)
                {
                    KeyValuePair<string, object?> limit = new("le", LimitOf(i));
                    yield return levels.Count > 1
                        ? new Measurement<long>(count, [limit, new("quicksilver.ring.level", level), .. _node])
                        : new Measurement<long>(count, [limit, .. _node]);
                }
            }
        }
    }

    private static string LimitOf(int number) => number == TimeHistogram.Classes - 1
        ? "+Inf"
        : TimeHistogram.LimitOf(number).TotalSeconds.ToString(CultureInfo.InvariantCulture);

    private void Level(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableGauge(name, () => new Measurement<long>(read(), _node), unit, description);
>>>>>>> doubts
}
