using System.Globalization;

namespace QuickSilver.Campaign;

/// <summary>One run. What it did not measure is NaN; a failed one has the reason and nothing else.</summary>
internal sealed record Measurement
{
    /// <summary>At the slowest receiver.</summary>
    public double MessagesPerSecond { get; init; } = double.NaN;

    public long Lost { get; init; }

    /// <summary>Of the whole machine, per million messages delivered, each counted at each receiver.</summary>
    public double CpuSecondsPerMillion { get; init; } = double.NaN;

    public double P50Micros { get; init; } = double.NaN;

    public double P99Micros { get; init; } = double.NaN;

    /// <summary>Of a payload as it was encoded, in the mean.</summary>
    public double PayloadBytes { get; init; } = double.NaN;

    /// <summary>After the warm-up, in all.</summary>
    public double SenderAllocatedBytes { get; init; } = double.NaN;

    /// <summary>Likewise, by the receiver that allocated most.</summary>
    public double ReceiverAllocatedBytes { get; init; } = double.NaN;

    /// <summary>Of the generations 1 and 2, in all processes.</summary>
    public double OldCollections { get; init; } = double.NaN;

    /// <summary>The most that one of the processes had resident.</summary>
    public double PeakResidentBytes { get; init; } = double.NaN;

    /// <summary>Of a watching program, in percent of one core.</summary>
    public double CorePercent { get; init; } = double.NaN;

    /// <summary>From the last message that a publisher could send until its log says for whom it waits.</summary>
    public double PublisherNamedSeconds { get; init; } = double.NaN;

    /// <summary>From the moment at which a reader stopped until the log of its node says that it reads none.</summary>
    public double ReaderNamedSeconds { get; init; } = double.NaN;

    /// <summary>Configurations that the membership service made meanwhile.</summary>
    public double ViewChanges { get; init; } = double.NaN;

    /// <summary>Of a sender's process, user and system, for each message.</summary>
    public double SenderNanos { get; init; } = double.NaN;

    /// <summary>Likewise of a receiver's, in the mean of the receivers.</summary>
    public double ReceiverNanos { get; init; } = double.NaN;

    /// <summary>Of a cipher alone, as an operation of its own for each packet.</summary>
    public double CipherNanos { get; init; } = double.NaN;

    /// <summary>Of a cipher alone, as a part of one long stream.</summary>
    public double StreamNanos { get; init; } = double.NaN;

    public string? Failure { get; init; }

    public static Measurement Failed(string reason) => new() { Failure = reason };

    public override string ToString() => Failure ?? string.Join(", ", Parts());

    private IEnumerable<string> Parts()
    {
        static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
        if (!double.IsNaN(P50Micros))
        {
            yield return Text($"{P50Micros:F1} µs, p99 {P99Micros:F1} µs");
        }

        if (!double.IsNaN(MessagesPerSecond))
        {
            yield return Text($"{MessagesPerSecond,12:N0} msg/s, {Lost} lost");
        }

        if (!double.IsNaN(CpuSecondsPerMillion))
        {
            yield return Text($"{CpuSecondsPerMillion:F2} CPU s per million");
        }

        if (!double.IsNaN(SenderNanos))
        {
            yield return Text($"{SenderNanos:F0} ns at the sender, {ReceiverNanos:F0} ns at a receiver");
        }

        if (!double.IsNaN(CipherNanos))
        {
            yield return Text($"{CipherNanos:F0} ns a packet, {StreamNanos:F0} ns of a stream");
        }

        if (!double.IsNaN(CorePercent))
        {
            yield return Text($"{CorePercent:F2} % of a core");
        }

        if (!double.IsNaN(PublisherNamedSeconds))
        {
            yield return Text($"named after {PublisherNamedSeconds:F1} s by the publisher, {ReaderNamedSeconds:F1} s by the reader's node");
        }
    }
}

/// <summary>The runs of one contender in one section, one for each round.</summary>
internal sealed class Series
{
    private readonly List<Measurement> _runs = [];

    public void Add(Measurement run) => _runs.Add(run);

    public int Failed => _runs.Count(run => run.Failure is not null);

    public int Count => _runs.Count;

    public long Lost => _runs.Sum(run => run.Lost);

    /// <summary>Of the last round so far; one that failed where there was none.</summary>
    public Measurement Last => _runs.Count > 0 ? _runs[^1] : Measurement.Failed("it has not run");

    public Spread Of(Func<Measurement, double> figure) => new(_runs.Select(figure));

    /// <summary>What each run has more of a figure than that of the same round in another series, over a figure of a third.</summary>
    public Spread Added(Series than, Func<Measurement, double> figure, Series over, Func<Measurement, double> unit) => new(
        _runs.Zip(than._runs, (more, less) => figure(more) - figure(less)).Zip(over._runs, (added, third) => added / unit(third)));

    /// <summary>The ratios of runs of the same round; a round in which one of the two failed has none.</summary>
    public Spread Over(Series other, Func<Measurement, double> figure) =>
        new(_runs.Zip(other._runs, (over, under) => figure(over) / figure(under)));
}

/// <summary>The median, the least and the most of what was measured; NaN where nothing was.</summary>
internal readonly record struct Spread
{
    public Spread(IEnumerable<double> figures)
    {
        double[] sorted = [.. figures.Where(double.IsFinite).Order()];
        int middle = sorted.Length / 2;
        (Least, Most) = sorted.Length == 0 ? (double.NaN, double.NaN) : (sorted[0], sorted[^1]);
        Median = sorted.Length == 0 ? double.NaN
            : sorted.Length % 2 == 1 ? sorted[middle]
            : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    public double Median { get; private init; }

    public double Least { get; private init; }

    public double Most { get; private init; }

    public bool IsKnown => !double.IsNaN(Median);

    public Spread Times(double factor) => this with { Median = Median * factor, Least = Least * factor, Most = Most * factor };

    public string ToText(string format)
    {
        string Text(double figure) => figure.ToString(format, CultureInfo.InvariantCulture);
        return IsKnown ? $"{Text(Median)} ({Text(Least)}–{Text(Most)})" : "";
    }
}
