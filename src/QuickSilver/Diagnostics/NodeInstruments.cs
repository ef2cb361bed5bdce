using System.Collections.Immutable;
using System.Diagnostics.Metrics;
using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Diagnostics;

// The instruments of all nodes of this process, on one meter named QuickSilver that is never disposed of. They observe counters that the
// nodes keep anyway, so measuring costs the hot path nothing. Only the latency is recorded, for one message of a topic at a time.
//
// There is one meter for the process, and the tags of a node are those of its measurements: OpenTelemetry takes meters of one name for one,
// whatever their tags, gives the values of all of them to the first, and stops an instrument for all as soon as one of them is disposed of.
internal static class NodeInstruments
{
    // From 5 microseconds in steps of about two: the range from the latency of one switch to that of a severe overload.
    private static readonly double[] LatencySeconds =
    [
        5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ];

    // Every second class of a histogram: each limit is four times the one before.
    private const int ClassStep = 2;

    private static readonly Meter Shared = new(NodeMeter.Name);
    // Null if a listener threw when it was created.
    private static readonly Histogram<double>? PublishToStable = Guarded(static () => Shared.CreateHistogram(
        NodeFigures.PublishToStable.Name, NodeFigures.PublishToStable.Unit, NodeFigures.PublishToStable.Sentence,
        tags: null, new InstrumentAdvice<double> { HistogramBucketBoundaries = LatencySeconds }));
    private static readonly Lock Change = new();
    // The names of instruments that protocols have added.
    private static readonly HashSet<string> OfProtocols = new(StringComparer.Ordinal);
    // Replaced as a whole, so that a collection reads it without the lock.
    private static volatile NodeMeter[] _nodes = [];

    static NodeInstruments()
    {
        foreach (var figure in NodeFigures.All)
        {
            Create(figure);
        }
    }

    /// <summary>Whether a listener wants to know how long a message takes to become stable.</summary>
    public static bool IsLatencyWatched => PublishToStable is { Enabled: true };

    public static void RecordStable(TimeSpan time, KeyValuePair<string, object?>[] node)
    {
        long began = ListenerTime.Begin();
        try
        {
            PublishToStable?.Record(time.TotalSeconds, node[0], node[1]);
        }
        catch (Exception)
        {
            ListenerFaults.Add();
        }

        ListenerTime.EndListener(began);
    }

    public static void Add(NodeMeter node)
    {
        lock (Change)
        {
            _nodes = [.. _nodes, node];
        }
    }

    public static void Remove(NodeMeter node)
    {
        lock (Change)
        {
            _nodes = [.. _nodes.Where(one => one != node)];
        }
    }

    /// <summary>Creates the instruments of a protocol, once for the process.</summary>
    public static void Add(IReadOnlyList<ProtocolCounter> counters)
    {
        foreach (var counter in counters)
        {
            lock (Change)
            {
                if (!OfProtocols.Add(counter.Name))
                {
                    continue;
                }
            }

            Func<IEnumerable<Measurement<long>>> observe = () => Each(node =>
                node.Protocols.Where(one => one.Name == counter.Name).Select(one => node.Measure(one.Read())));
            if (counter.IsLevel)
            {
                Gauge(counter.Name, observe, counter.Unit, counter.Description);
            }
            else
            {
                Counter(counter.Name, observe, counter.Unit, counter.Description);
            }
        }
    }

    // Each instrument reads on its own: collections are rare, and each value may be slightly newer than the one before.
    //
    // There is no histogram that is observed. A histogram that is recorded takes a lock for each sample, and distributions are sampled on
    // the core thread. So each is a counter with one series per limit, as Prometheus stores histograms.
    private static void Create(NodeFigure figure)
    {
        switch (figure)
        {
            case NodeFigure<long> number:
                Observe(figure, () => _nodes.Select(node => node.Measure(number.Read(node.Source))));
                break;
            case NodeFigure<TimeSpan> time:
                Observe(figure, () => _nodes.Select(node => node.Measure(time.Read(node.Source).TotalSeconds)));
                break;
            case FigureByTag<long> numbers:
                Observe(figure, () => Each(node =>
                    numbers.Read(node.Source).Select(one => node.Measure(one.Value, Tag(numbers.Tags[0], one.Tag)))));
                break;
            case FigureByTag<TimeSpan> times:
                Observe(figure, () => Each(node =>
                    times.Read(node.Source).Select(one => node.Measure(one.Value.TotalSeconds, Tag(times.Tags[0], one.Tag)))));
                break;
            case NodeFigure<ImmutableArray<TimeHistogram>> samples:
                Observe(figure, () => Each(node => Samples(node, samples)));
                break;
        }
    }

    private static void Observe<T>(NodeFigure figure, Func<IEnumerable<Measurement<T>>> observe)
        where T : struct
    {
        if (figure.Kind == FigureKind.Level)
        {
            Gauge(figure.Name, observe, figure.Unit, figure.Sentence);
        }
        else
        {
            Counter(figure.Name, observe, figure.Unit, figure.Sentence);
        }
    }

    private static void Counter<T>(string name, Func<IEnumerable<Measurement<T>>> observe, string unit, string description)
        where T : struct =>
        Guarded(() => Shared.CreateObservableCounter(name, observe, unit, description));

    private static void Gauge<T>(string name, Func<IEnumerable<Measurement<T>>> observe, string unit, string description)
        where T : struct =>
        Guarded(() => Shared.CreateObservableGauge(name, observe, unit, description));

    // Listeners are notified within. One that throws must not keep nodes from starting.
    private static T? Guarded<T>(Func<T> create)
        where T : class
    {
        try
        {
            return create();
        }
        catch (Exception)
        {
            ListenerFaults.Add();
            return null;
        }
    }

    private static IEnumerable<Measurement<T>> Each<T>(Func<NodeMeter, IEnumerable<Measurement<T>>> read)
        where T : struct =>
        _nodes.SelectMany(read);

    // Samples up to each limit, by level where there are several.
    private static IEnumerable<Measurement<long>> Samples(NodeMeter node, NodeFigure<ImmutableArray<TimeHistogram>> figure)
    {
        var levels = figure.Read(node.Source);
        for (int level = 0; level < levels.Length; level++)
        {
            if (levels.Length > 1 && levels[level].Count == 0)
            {
                continue;
            }

            long count = 0;
            for (int i = 0; i < TimeHistogram.Classes; i++)
            {
                count += levels[level].Counts[i];
                if (i % ClassStep == 1)
                {
                    var limit = Tag(figure.Tags[0], LimitOf(i));
                    yield return levels.Length > 1 ? node.Measure(count, limit, Tag(figure.Tags[1], level)) : node.Measure(count, limit);
                }
            }
        }
    }

    private static KeyValuePair<string, object?> Tag(string name, object? value) => new(name, value);

    private static string LimitOf(int number) => number == TimeHistogram.Classes - 1
        ? "+Inf"
        : TimeHistogram.GetUpperBound(number).TotalSeconds.ToString(CultureInfo.InvariantCulture);
}
