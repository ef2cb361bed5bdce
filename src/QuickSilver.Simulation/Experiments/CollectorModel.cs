using System.Globalization;

namespace QuickSilver.Simulation.Experiments;

// How much of one kind of thing a node's collector has to trace.
internal readonly record struct LiveKind(double Objects, double Bytes)
{
    public static LiveKind operator +(LiveKind a, LiveKind b) => new(a.Objects + b.Objects, a.Bytes + b.Bytes);

    public static LiveKind operator *(LiveKind kind, double count) => new(kind.Objects * count, kind.Bytes * count);
}

// What a node keeps alive: topics and what it knows of members stay, packets come and go.
internal readonly record struct LiveObjects(LiveKind Lasting, LiveKind Packets)
{
    public double Bytes => Lasting.Bytes + Packets.Bytes;
}

// What one topic adds to the heap of a node that has it open.
internal sealed record TopicWeight(string Name, string Description, LiveKind Kind)
{
    /// <summary>
    /// This library's: the bytes of a topic that is published and subscribed, with what its use adds (docs/memory.md), and the objects
    /// that a walk over the heap of a simulated node finds.
    /// </summary>
    public static TopicWeight Light { get; } = new("light", "QuickSilver's own", new LiveKind(27, 2000));

    /// <summary>
    /// The papers': "queues, dictionaries, strings, small structures for profiling", which "with thousands of topics add up to tens of
    /// megabytes" (longer report, section 4.5). With 8,192 topics this takes an eighth of the throughput.
    /// </summary>
    public static TopicWeight Papers { get; } = new("papers", "QSM's, by the papers' text", new LiveKind(100, 10_000));

    /// <summary>The papers' with tracing in each topic, "heavyweight" in their figure, which ends at four fifths.</summary>
    public static TopicWeight Heavyweight { get; } = new("heavyweight", "QSM's with tracing in each topic", new LiveKind(150, 16_000));

    public static IReadOnlyList<TopicWeight> All { get; } = [Light, Papers, Heavyweight];
}

// A collector that runs as often as the papers' did, since their applications allocate each message, and traces what is alive each time:
// so everything that a node does takes longer by a share, which grows with the number and the size of the live objects.
//
// The shares are set by figures of the papers: 10 MB more of pending messages, of two objects and three times their size each, cost 5 % of
// the throughput (longer report, section 4.1); tens of megabytes of lasting objects cost less than a fifth (its figure 43).
internal sealed record CollectorModel(double ShareOfMegabyte, double ShareOfThousandObjects, double PacketFactor)
{
    // A message of the papers' that waits for its acknowledgement, as they found it on their heap.
    private const double ObjectsOfPacket = 2;
    private const double BytesOfPacketByte = 3;

    // What a node keeps of each other one: an entry of the roster, and one of the live members of a region (docs/memory.md).
    private static readonly LiveKind Member = new(2, 206);

    /// <summary>Packets die in the oldest generation, after two copies: their objects cost five times as much as lasting ones.</summary>
    public static CollectorModel Papers { get; } = new(ShareOfMegabyte: 0.001, ShareOfThousandObjects: 0.000085, PacketFactor: 5);

    public static CollectorModel None { get; } = new(0, 0, 0);

    public static LiveObjects Live(TopicWeight weight, int topics, int members, double packets, double packetBytes) => new(
        (weight.Kind * topics) + (Member * members),
        new LiveKind(packets * ObjectsOfPacket, packetBytes * BytesOfPacketByte));

    /// <summary>How much longer everything takes, as a share of the time without a collector.</summary>
    public double ShareOf(LiveObjects live) => Charge(live.Lasting) + (PacketFactor * Charge(live.Packets));

    public override string ToString() => this == None
        ? "a collector that costs nothing"
        : string.Create(
            CultureInfo.InvariantCulture,
            $"a collector that takes {ShareOfMegabyte * 100}% more of the time for each live MB and {ShareOfThousandObjects * 1e5}% for "
            + $"each 1,000,000 live objects, for packets {PacketFactor} times as much");

    private double Charge(LiveKind kind) => (ShareOfMegabyte * kind.Bytes / 1e6) + (ShareOfThousandObjects * kind.Objects / 1e3);
}
