namespace QuickSilver.Campaign;

/// <summary>What of a run stands in a column: its head, the figure, its format; and whether the rounds are added up.</summary>
internal sealed record Figure(string Title, Func<Measurement, double> Of, string Format, bool IsSum = false)
{
    private const double Million = 1e6;

    public static readonly Figure Rate = new("msg/s", run => run.MessagesPerSecond, "N0");
    public static readonly Figure Lost = new("lost", run => run.Lost, "N0", IsSum: true);
    public static readonly Figure Cpu = new("CPU s per million delivered", run => run.CpuSecondsPerMillion, "F2");
    public static readonly Figure P50 = new("p50, µs", run => run.P50Micros, "N1");
    public static readonly Figure P99 = new("p99, µs", run => run.P99Micros, "N1");
    public static readonly Figure Payload = new("bytes of a payload", run => run.PayloadBytes, "F1");
    public static readonly Figure Goodput =
        new("goodput, Mbit/s", run => run.MessagesPerSecond * run.PayloadBytes * 8 / Million, "N1");
    public static readonly Figure SenderAllocated = new("sender allocated, MB", run => run.SenderAllocatedBytes / Million, "F3");
    public static readonly Figure ReceiverAllocated =
        new("receiver allocated, MB", run => run.ReceiverAllocatedBytes / Million, "F3");
    public static readonly Figure MostAllocated = new(
        "allocated, MB", run => Math.Max(run.SenderAllocatedBytes, run.ReceiverAllocatedBytes) / Million, "F3");
    public static readonly Figure OldCollections = new("collections of Gen 1 and 2", run => run.OldCollections, "N0");
    public static readonly Figure PeakResident = new("resident, MB", run => run.PeakResidentBytes / Million, "N0");
    public static readonly Figure CorePercent = new("% of a core", run => run.CorePercent, "F2");
    public static readonly Figure PublisherNamed = new("named by the publisher, s", run => run.PublisherNamedSeconds, "F1");
    public static readonly Figure ReaderNamed = new("named by the reader's node, s", run => run.ReaderNamedSeconds, "F1");
    public static readonly Figure SenderNanos = new("sender, ns a message", run => run.SenderNanos, "N0");
    public static readonly Figure ReceiverNanos = new("receiver, ns a message", run => run.ReceiverNanos, "N0");
    public static readonly Figure CipherNanos = new("cipher, ns a packet", run => run.CipherNanos, "N0");
    public static readonly Figure StreamNanos = new("ns of a stream", run => run.StreamNanos, "N0");
    public static readonly Figure ViewChanges = new("view changes", run => run.ViewChanges, "N0");

    public static readonly Figure[] Throughput = [Rate, Lost, Cpu];
    public static readonly Figure[] RoundTrip = [P50, P99];

    public string CellOf(Series runs) => IsSum
        ? runs.Lost.ToString(Format, System.Globalization.CultureInfo.InvariantCulture)
        : runs.Of(Of).ToText(Format);
}
