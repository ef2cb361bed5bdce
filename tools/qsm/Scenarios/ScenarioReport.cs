using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Scenarios;

// What one run showed. Its field names are what scripts read: they are never renamed. Times are virtual but the last.
internal sealed record ScenarioReport
{
    public required string Scenario { get; init; }

    public required int Nodes { get; init; }

    public required int Topics { get; init; }

    public required ulong Seed { get; init; }

    /// <summary>Which of the curves that the figure compares.</summary>
    public string? Variant { get; init; }

    /// <summary>Messages a second that were to be sent; without it as many as the protocol lets the sender.</summary>
    public double? Rate { get; init; }

    /// <summary>Of a message to a group.</summary>
    public int? MessageBytes { get; init; }

    /// <summary>Members that keep each packet at least, where that was asked for.</summary>
    public int? Replicas { get; init; }

    /// <summary>Tokens that each ring's leader releases in a second; without it they go when there is something to report.</summary>
    public double? TokenRate { get; init; }

    /// <summary>In how many ranges acknowledgements say what all hold, where it is more than one number.</summary>
    public int? FeedbackRanges { get; init; }

    public required string Faults { get; init; }

    /// <summary>The machines' parameters, in words.</summary>
    public required string Model { get; init; }

    /// <summary>The mean over the receivers.</summary>
    public double MessagesPerSecond { get; init; }

    /// <summary>The same in thousands of bytes, of the messages to a group.</summary>
    public double? KilobytesPerSecond { get; init; }

    public double SlowestMessagesPerSecond { get; init; }

    /// <summary>Of all senders together.</summary>
    public double SentPerSecond { get; init; }

    public long Published { get; init; }

    public long Deliveries { get; init; }

    /// <summary>Messages that were reported to receivers as never coming.</summary>
    public long Gaps { get; init; }

    /// <summary>Deliveries still owed half a minute after the end; not counted where nodes crashed.</summary>
    public long Missing { get; init; }

    /// <summary>Members of a group that the membership service removed. What they sent and were to get is not missing.</summary>
    public int? RemovedMembers { get; init; }

    public double TokenRoundTripMillis { get; init; }

    public double WorstTokenRoundTripMillis { get; init; }

    /// <summary>Packets that not all are known to hold, the mean over the time.</summary>
    public double PendingAcks { get; init; }

    public double PendingBytes { get; init; }

    /// <summary>Of packets that a receiver keeps, for others or because something before them is missing; the mean.</summary>
    public double ReceiverKeptBytes { get; init; }

    public double LatencyMeanMillis { get; init; }

    public double LatencyMostMillis { get; init; }

    /// <summary>Of the time, what the core thread was busy for.</summary>
    public double SenderBusyShare { get; init; }

    public double ReceiverBusyShare { get; init; }

    public long RepairsSent { get; init; }

    public long PullsSent { get; init; }

    /// <summary>Of the repairs, those that the publishing node sent itself.</summary>
    public long SenderRepairs { get; init; }

    /// <summary>Packets that members found missing, each counted once per member.</summary>
    public long PacketsLost { get; init; }

    public double RequestsPerLost { get; init; }

    /// <summary>From the discovery of the gap to the packet.</summary>
    public double RecoveryMedianMillis { get; init; }

    /// <summary>Of the packets that were lost, what came within twice that median.</summary>
    public double RecoveredWithinTwoMedians { get; init; }

    /// <summary>Of the packets that were lost, what had to be asked of the sender.</summary>
    public double AskedOfSender { get; init; }

    /// <summary>Messages that each packet carried, when it was sent for the first time.</summary>
    public double MessagesPerPacket { get; init; }

    /// <summary>From when a packet was sent until its sender knew that all hold it; null if it never did while it was measured.</summary>
    public double? AckMillis { get; init; }

    /// <summary>A whole round of one ring, the mean over all rings of all levels.</summary>
    public double RingRoundTripMillis { get; init; }

    public double LatencyMedianMillis { get; init; }

    public double LatencyP99Millis { get; init; }

    /// <summary>Of what the sender's card can send, what its data took.</summary>
    public double SenderCardShare { get; init; }

    /// <summary>What the modelled collector traces.</summary>
    public double SenderLiveBytes { get; init; }

    public double ReceiverLiveBytes { get; init; }

    /// <summary>Of the time, what the modelled collector took.</summary>
    public double SenderCollectorShare { get; init; }

    public double ReceiverCollectorShare { get; init; }

    /// <summary>How late alarms fire, the mean.</summary>
    public double SenderAlarmDelayMillis { get; init; }

    public double ReceiverAlarmDelayMillis { get; init; }

    /// <summary>Of all packets, what the last receiver found missing.</summary>
    public double PerturbedLossShare { get; init; }

    public double PerturbedKeptBytes { get; init; }

    /// <summary>From the discovery of a gap to the packet, the mean, at the last receiver.</summary>
    public double PerturbedRecoveryMillis { get; init; }

    /// <summary>The same at all.</summary>
    public double RecoveryMeanMillis { get; init; }

    public double? TopicsPerNode { get; init; }

    /// <summary>Where topics are as busy as they are popular.</summary>
    public double? SendsPerMessage { get; init; }
    public int? TopicAddresses { get; init; }
    public double? TopicAddressesPerNode { get; init; }

    /// <summary>The curves that the run gave by itself.</summary>
    public IReadOnlyList<ReportedTrace>? Traces { get; init; }

    public double? RegionsPerNode { get; init; }

    public double? RegionsPerTopic { get; init; }

    /// <summary>How many of a node's regions bring 95% of its traffic.</summary>
    public double? RegionsOfMostTraffic { get; init; }

    /// <summary>Of the traffic of a node, what it subscribed to.</summary>
    public double? ShareWanted { get; init; }

    /// <summary>Of the traffic of a node, what comes through its two busiest regions.</summary>
    public double? ShareOfTwoBusiest { get; init; }

    /// <summary>The same for the same command line, on any machine.</summary>
    public required string TraceHash { get; init; }

    public double VirtualSeconds { get; init; }

    public double WallSeconds { get; init; }

    public void Print(bool json)
    {
        if (json)
        {
            Console.Out.WriteLine(Fields().GetRawText());
        }
        else
        {
            Terminal.Table(Fields().EnumerateObject()
                .Where(field => field.Value.ValueKind != JsonValueKind.Array)
                .Select(field => (field.Name, field.Value.ToString())));
        }
    }

    /// <summary>The names, then the values, as two lines of a table of comma-separated values.</summary>
    public (string Names, string Values) Csv()
    {
        // Fields that have no value stay, so that all lines of a table have the same.
        var fields = JsonSerializer.SerializeToElement(this, ScenarioCsv.Default.ScenarioReport).EnumerateObject()
            .Where(field => field.Name != "traces").ToList();
        return (
            string.Join(',', fields.Select(field => field.Name)),
            string.Join(',', fields.Select(field => field.Value.ValueKind switch
            {
                JsonValueKind.String => $"\"{field.Value.GetString()!.Replace("\"", "\"\"", StringComparison.Ordinal)}\"",
                JsonValueKind.Null => "",
                _ => field.Value.GetRawText(),
            })));
    }

    private JsonElement Fields() => JsonSerializer.SerializeToElement(this, ScenarioJson.Default.ScenarioReport);
}

// Values over what the figure's trace is drawn over.
internal sealed record ReportedTrace(string Label, IReadOnlyList<double> At, IReadOnlyList<double> Values);

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ScenarioReport))]
[JsonSerializable(typeof(FigureReport[]))]
internal sealed partial class ScenarioJson : JsonSerializerContext;

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(ScenarioReport))]
internal sealed partial class ScenarioCsv : JsonSerializerContext;
