using System.Globalization;

namespace QuickSilver.Simulation.Experiments;

// What the machines of an experiment are like. A cost per packet and one per byte, on the thread that does everything; a
// network card of a certain speed; and a garbage collector that takes its share of the time by what the node keeps.
internal sealed record HostModel
{
    /// <summary>
    /// The papers' hosts. Their sender spends all of its 1.3 GHz on up to 9,500 messages of 1,000 bytes a second with 200 nodes, 5 % less
    /// than with few, and receivers of perturbed runs at 5,500 to 8,500 spend "50-60%" (001, sections 1, 5.1 and 5.3): the costs are set
    /// after these. With one message per packet, the processor of a sender is its limit, and its card has a tenth to spare.
    /// </summary>
    public static HostModel Papers { get; } = new()
    {
        Name = "papers",
        Description = "Pentium III 1.3 GHz, 100 Mbit/s, .NET 2.0",
        SentDatagram = TimeSpan.FromMicroseconds(65),
        ReceivedDatagram = TimeSpan.FromMicroseconds(30),
        Kilobyte = TimeSpan.FromMicroseconds(35),
        LinkBitsPerSecond = 100_000_000,
        Collector = CollectorModel.Papers,
        SegmentationOffload = false,
    };

    /// <summary>A present host, by what a managed program measures there that sends in runs and promises nothing.</summary>
    public static HostModel Modern { get; } = new()
    {
        Name = "modern",
        Description = "3 GHz, 10 Gbit/s, segmentation offload",
        SentDatagram = TimeSpan.FromMicroseconds(0.2),
        ReceivedDatagram = TimeSpan.FromMicroseconds(0.3),
        Kilobyte = TimeSpan.FromMicroseconds(0.1),
        LinkBitsPerSecond = 10_000_000_000,
        Collector = CollectorModel.None,
        SegmentationOffload = true,
    };

    /// <summary>
    /// The hosts of Isis (002), "Sparc 10/51" on an Ethernet of 10 Mbit/s. Its table 1 has the costs of messages: 3,067 null tasks a
    /// second, of which each message that is delivered takes one; 6, 7 and 10 µs to create a message and to put a number and a payload by
    /// reference into it; and 48 µs to copy 2 KB, which the system does once at each end. It has no cost of a packet. That follows from
    /// figure 10, 318 messages of 4 bytes with one reply a second: of the 3,145 µs of one, a task takes 326, two messages 46, and two
    /// frames of 214 bytes (144 of them the table's overhead) with their delays 442. Two packets sent and two received share the rest.
    /// </summary>
    public static HostModel Isis { get; } = new()
    {
        Name = "isis",
        Description = "Sparc 10/51, 10 Mbit/s, SunOS 4.1.3",
        SentDatagram = TimeSpan.FromMicroseconds(580),
        ReceivedDatagram = TimeSpan.FromMicroseconds(580),
        Kilobyte = TimeSpan.FromMicroseconds(24),
        SentMessage = TimeSpan.FromMicroseconds(23),
        ReceivedMessage = TimeSpan.FromMicroseconds(326),
        LinkBitsPerSecond = 10_000_000,
        Collector = CollectorModel.None,
        SegmentationOffload = false,
    };

    public static IReadOnlyList<HostModel> All { get; } = [Papers, Modern, Isis];

    // Of the 1,538 byte times of a full frame on the wire, what is a datagram's own.
    private const double PayloadOfFrame = 1472.0 / 1538;

    public required string Name { get; init; }

    public required string Description { get; init; }

    public required TimeSpan SentDatagram { get; init; }

    public required TimeSpan ReceivedDatagram { get; init; }

    public required TimeSpan Kilobyte { get; init; }

    /// <summary>The application's part of each message that it sends, beside the packets.</summary>
    public TimeSpan SentMessage { get; init; }

    /// <summary>The application's part of each message that is delivered to it.</summary>
    public TimeSpan ReceivedMessage { get; init; }

    public required long LinkBitsPerSecond { get; init; }

    public required CollectorModel Collector { get; init; }

    public required bool SegmentationOffload { get; init; }

    public TimeSpan LinkDelay { get; init; } = TimeSpan.FromMicroseconds(50);

    public long DatagramBytesPerSecond => (long)(LinkBitsPerSecond / 8 * PayloadOfFrame);

    /// <summary>A machine's model as one of these; <paramref name="live"/> is what its collector has to trace.</summary>
    public NodeModel Of(NodeModel model, LiveObjects live = default)
    {
        double share = 1 + Collector.ShareOf(live);
        return model with
        {
            SendBytesPerSecond = DatagramBytesPerSecond,
            CostPerSentDatagram = SentDatagram * share,
            CostPerDatagram = ReceivedDatagram * share,
            CostPerKilobyte = Kilobyte * share,
        };
    }

    private string OfMessages => SentMessage + ReceivedMessage == TimeSpan.Zero
        ? ""
        : string.Create(
            CultureInfo.InvariantCulture,
            $"{SentMessage.TotalMicroseconds} µs a message sent, {ReceivedMessage.TotalMicroseconds} µs a message delivered, ");

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Name} ({Description}): {SentDatagram.TotalMicroseconds} µs a packet sent, {ReceivedDatagram.TotalMicroseconds} µs a packet "
        + $"received, {Kilobyte.TotalMicroseconds} µs for 1,000 bytes, {OfMessages}a network "
        + $"card of {LinkBitsPerSecond / 1e6} Mbit/s each way out "
        + $"({DatagramBytesPerSecond / 1e6:F2} MB/s of datagrams), {LinkDelay.TotalMicroseconds} µs between hosts, {Collector}");
}
