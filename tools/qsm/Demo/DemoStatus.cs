using System.Text.Json;
using System.Text.Json.Serialization;

namespace QuickSilver.Tool.Demo;

// What a node of the demo says of itself, on a line of its output. Nodes are named by their ids.
internal sealed record DemoStatus(string Node)
{
    /// <summary>How many nodes it knows to subscribe.</summary>
    public int Subscribers { get; init; }

    public long Published { get; init; }

    /// <summary>Whether all that it published is acknowledged, and it publishes no more.</summary>
    public bool IsDrained { get; init; }

    /// <summary>Messages by sender, each once and in order; what is not so is in Faults.</summary>
    public Dictionary<string, long> Received { get; init; } = [];

    /// <summary>By sender: messages that were lost, came twice, or came out of order.</summary>
    public Dictionary<string, long> Faults { get; init; } = [];

    public string ToJson() => JsonSerializer.Serialize(this, DemoJson.Default.DemoStatus);

    public static DemoStatus? Of(string line) => JsonSerializer.Deserialize(line, DemoJson.Default.DemoStatus);
}

// How the demo ended. Its names are what scripts read.
internal sealed record DemoResult(
    bool NothingLost, double Seconds, long Published, long Delivered, int KilledProcess, long PublishedByKilled, string? Trouble)
{
    public string ToJson() => JsonSerializer.Serialize(this, DemoJson.Default.DemoResult);
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(DemoStatus))]
[JsonSerializable(typeof(DemoResult))]
internal sealed partial class DemoJson : JsonSerializerContext;
