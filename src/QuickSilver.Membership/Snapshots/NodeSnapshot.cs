using System.Collections.Immutable;
using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Snapshots;

// The vital signs of one node, which it reports while an observer watches. The service passes them on as bytes that it does not decode.
// Counts are of the span, which is the time since the node's last report.
//
// Invariant: Write writes at most MaxBytes if the rows are at most MostRows, the reasons at most MostReasons, and their texts are no longer
// than their limits. Rows of protocols are among them only as far as the others leave room (WithProtocols).
internal sealed record NodeSnapshot
{
    /// <summary>The rows of regions, those of topics, and those of protocols.</summary>
    public const int MostRows = 32;

    public const int MostReasons = 4;

    public const int MostHeld = 8;

    public const int MaxBytes = 16 * 1024;

    // A text that is longer is cut by the node.
    public const int MaxTroubleBytes = 512;

    private const int NumberFields = 34;

    /// <summary>The time that counts and rates cover, in milliseconds; 0 in the first report of the node.</summary>
    public long SpanMillis { get; init; }

    // Rates, per second.
    public long Published { get; init; }
    public long Delivered { get; init; }
    public long PublishedBytes { get; init; }
    public long DeliveredBytes { get; init; }

    // Levels.
    public long PendingPackets { get; init; }
    public long RetentionBytes { get; init; }
    public long RetentionLimitBytes { get; init; }
    public long MemoryBytes { get; init; }
    public long MemoryLimitBytes { get; init; }
    public long QueueBytes { get; init; }

    /// <summary>Messages that publishers accepted and that wait to be sent; 0 of a node of an earlier version, too.</summary>
    public long QueueMessages { get; init; }
    public long Regions { get; init; }
    public long Topics { get; init; }
    public long Views { get; init; }
    public long SupersededViews { get; init; }
    public long OldestSupersededMillis { get; init; }
    public long Configuration { get; init; }

    // Times in the span, in microseconds; 0: none was measured.
    public long AckMedian { get; init; }
    public long AckNinetyNinth { get; init; }
    public long TokenMedian { get; init; }
    public long AggregateMedian { get; init; }
    public long LatenessNinetyNinth { get; init; }
    public long CollectorPause { get; init; }

    /// <summary>The share of the span that the core thread worked, in thousandths.</summary>
    public long BusyPerMille { get; init; }

    /// <summary>What kept the streams from sending most, by the number of its public name, and for which share of the time.</summary>
    public long Limit { get; init; }
    public long LimitPerMille { get; init; }

    // Counts in the span.
    public long LongSteps { get; init; }
    public long QuantaExceeded { get; init; }
    public long RepairRequests { get; init; }
    public long Repairs { get; init; }
    public long CollectiveNaks { get; init; }
    public long KernelDrops { get; init; }

    /// <summary>Messages that this node will never get, since its start.</summary>
    public long Gaps { get; init; }

    /// <summary>A sentence about what is wrong with the node; empty if nothing is.</summary>
    public string Trouble { get; init; } = "";

    /// <summary>The busiest of the node's regions and topics, and not necessarily all.</summary>
    public ImmutableArray<RegionSnapshot> RegionRows { get; init; } = [];
    public ImmutableArray<TopicSnapshot> TopicRows { get; init; } = [];

    /// <summary>
    /// The first reasons for which the node is not ready, or has a problem. A node of an older version has only <see cref="Trouble"/>.
    /// </summary>
    public ImmutableArray<ReasonSnapshot> ReasonRows { get; init; } = [];

    /// <summary>Topics that the node publishes at the rate of a slow reader, and not necessarily all.</summary>
    public ImmutableArray<HeldSnapshot> HeldRows { get; init; } = [];

    /// <summary>What protocols report of their topics, and not necessarily all of it.</summary>
    public ImmutableArray<ProtocolSnapshot> ProtocolRows { get; init; } = [];

    /// <summary>The same with the first of these rows, as many as there is room for.</summary>
    public NodeSnapshot WithProtocols(IReadOnlyCollection<ProtocolSnapshot> rows)
    {
        if (rows.Count == 0)
        {
            return this;
        }

        var buffer = new ControlBuffer();
        Write(buffer);
        var fitting = ImmutableArray.CreateBuilder<ProtocolSnapshot>();
        foreach (var row in rows.Take(MostRows))
        {
            Write(buffer, row);
            if (buffer.Length > MaxBytes)
            {
                break;
            }

            fitting.Add(row);
        }

        return this with { ProtocolRows = fitting.DrainToImmutable() };
    }

    public void Write(ControlBuffer buffer)
    {
        foreach (var (field, value) in Numbers())
        {
            buffer.Int64(field, value);
        }

        buffer.Text(40, Trouble);
        foreach (var region in RegionRows)
        {
            int start = buffer.Begin(41);
            region.Write(buffer);
            buffer.End(start);
        }

        foreach (var topic in TopicRows)
        {
            int start = buffer.Begin(42);
            topic.Write(buffer);
            buffer.End(start);
        }

        foreach (var reason in ReasonRows)
        {
            int start = buffer.Begin(43);
            reason.Write(buffer);
            buffer.End(start);
        }

        foreach (var held in HeldRows)
        {
            int start = buffer.Begin(44);
            held.Write(buffer);
            buffer.End(start);
        }

        foreach (var row in ProtocolRows)
        {
            Write(buffer, row);
        }
    }

    /// <exception cref="QuickSilverException">The bytes are no vital signs.</exception>
    public static NodeSnapshot Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        Span<long> numbers = stackalloc long[NumberFields + 1];
        numbers.Clear();
        string trouble = "";
        var regions = ImmutableArray.CreateBuilder<RegionSnapshot>();
        var topics = ImmutableArray.CreateBuilder<TopicSnapshot>();
        var reasons = ImmutableArray.CreateBuilder<ReasonSnapshot>();
        var held = ImmutableArray.CreateBuilder<HeldSnapshot>(0);
        var protocols = ImmutableArray.CreateBuilder<ProtocolSnapshot>(0);
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case >= 1 and <= NumberFields: numbers[field.Number] = ReadNumber(ref reader, field); break;
                case 40: trouble = reader.ReadText(field, MaxTroubleBytes); break;
                case 41 when regions.Count < MostRows: regions.Add(RegionSnapshot.Read(ref reader, field)); break;
                case 42 when topics.Count < MostRows: topics.Add(TopicSnapshot.Read(ref reader, field)); break;
                case 43 when reasons.Count < MostReasons: reasons.Add(ReasonSnapshot.Read(ref reader, field)); break;
                case 44 when held.Count < MostHeld: held.Add(HeldSnapshot.Read(ref reader, field)); break;
                case 45 when protocols.Count < MostRows: protocols.Add(ProtocolSnapshot.Read(ref reader, field)); break;
                case 44: throw new ControlFormatException($"The vital signs have more than {MostHeld} held topics.");
                case 43: throw new ControlFormatException($"The vital signs have more than {MostReasons} reasons.");
                case 41 or 42 or 45: throw new ControlFormatException($"The vital signs have more than {MostRows} rows of one kind.");
                default: reader.Skip(field); break;
            }
        }

        return Of(numbers) with
        {
            Trouble = trouble,
            RegionRows = regions.DrainToImmutable(),
            TopicRows = topics.DrainToImmutable(),
            ReasonRows = reasons.DrainToImmutable(),
            HeldRows = held.DrainToImmutable(),
            ProtocolRows = protocols.DrainToImmutable(),
        };
    }

    /// <summary>A number that is not negative: each field is a count, a level or a time.</summary>
    internal static long ReadNumber(ref ProtobufReader reader, ControlField field)
    {
        long value = reader.ReadInt64(field);
        return value >= 0 ? value : throw new ControlFormatException($"Field {field.Number} is {value}; negative numbers are not valid.");
    }

    private static void Write(ControlBuffer buffer, in ProtocolSnapshot row)
    {
        int start = buffer.Begin(45);
        row.Write(buffer);
        buffer.End(start);
    }

    private (int Field, long Value)[] Numbers() =>
    [
        (1, SpanMillis), (2, Published), (3, Delivered), (4, PublishedBytes), (5, DeliveredBytes), (6, PendingPackets),
        (7, RetentionBytes), (8, RetentionLimitBytes), (9, MemoryBytes), (10, MemoryLimitBytes), (11, QueueBytes), (12, Regions),
        (13, Topics), (14, Views), (15, SupersededViews), (16, OldestSupersededMillis), (17, Configuration), (18, AckMedian),
        (19, AckNinetyNinth), (20, TokenMedian), (21, AggregateMedian), (22, LatenessNinetyNinth), (23, CollectorPause),
        (24, BusyPerMille), (25, Limit), (26, LimitPerMille), (27, LongSteps), (28, QuantaExceeded), (29, RepairRequests),
        (30, Repairs), (31, CollectiveNaks), (32, KernelDrops), (33, Gaps), (34, QueueMessages),
    ];

    private static NodeSnapshot Of(ReadOnlySpan<long> numbers) => new()
    {
        SpanMillis = numbers[1],
        Published = numbers[2],
        Delivered = numbers[3],
        PublishedBytes = numbers[4],
        DeliveredBytes = numbers[5],
        PendingPackets = numbers[6],
        RetentionBytes = numbers[7],
        RetentionLimitBytes = numbers[8],
        MemoryBytes = numbers[9],
        MemoryLimitBytes = numbers[10],
        QueueBytes = numbers[11],
        Regions = numbers[12],
        Topics = numbers[13],
        Views = numbers[14],
        SupersededViews = numbers[15],
        OldestSupersededMillis = numbers[16],
        Configuration = numbers[17],
        AckMedian = numbers[18],
        AckNinetyNinth = numbers[19],
        TokenMedian = numbers[20],
        AggregateMedian = numbers[21],
        LatenessNinetyNinth = numbers[22],
        CollectorPause = numbers[23],
        BusyPerMille = numbers[24],
        Limit = numbers[25],
        LimitPerMille = numbers[26],
        LongSteps = numbers[27],
        QuantaExceeded = numbers[28],
        RepairRequests = numbers[29],
        Repairs = numbers[30],
        CollectiveNaks = numbers[31],
        KernelDrops = numbers[32],
        Gaps = numbers[33],
        QueueMessages = numbers[34],
    };
}
