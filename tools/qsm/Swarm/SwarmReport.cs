using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tool.Perf;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Swarm;

// What one process's part of a swarm came to. Its field names are what scripts read: they are never renamed.
internal sealed record SwarmReport
{
    public int Nodes { get; init; }

    public int TotalNodes { get; init; }

    public int Topics { get; init; }

    public long Published { get; init; }

    /// <summary>To all nodes of this process.</summary>
    public long Delivered { get; init; }

    public long Gaps { get; init; }

    public long Duplicates { get; init; }

    /// <summary>Whether each node got all that all nodes of all processes published to its topics, and all came to the end.</summary>
    public bool Complete { get; init; }

    /// <summary>Whether all that this process published was acknowledged by all.</summary>
    public bool Stable { get; init; }

    /// <summary>From the first node's start until each node saw all nodes of all processes ready.</summary>
    public double OpenSeconds { get; init; }

    /// <summary>From the first message until all were delivered and stable.</summary>
    public double Seconds { get; init; }

    public double CpuSeconds { get; init; }

    public long AllocatedBytes { get; init; }

    public int[] GcCollections { get; init; } = [];

    public long ResidentBytes { get; init; }

    /// <summary>All of the process's memory, the runtime's share included.</summary>
    public long ResidentBytesPerNode { get; init; }

    public int Threads { get; init; }

    public long PacketsSent { get; init; }

    public long PacketsReceived { get; init; }

    public long Repairs { get; init; }

    public long KernelDrops { get; init; }

    /// <summary>The most regions that one node is in.</summary>
    public long Regions { get; init; }

    public bool Holds => Complete && Stable && Gaps == 0 && Duplicates == 0;

    public static SwarmReport Of(SwarmPlan plan, SwarmNode[] nodes, ProcessUsage start, ProcessUsage end)
    {
        using var self = Process.GetCurrentProcess();
        var topics = nodes.SelectMany(node => node.Topics).ToArray();
        return new SwarmReport
        {
            Nodes = plan.Nodes,
            TotalNodes = plan.Total,
            Topics = plan.Topics,
            Published = topics.Sum(topic => topic.Published),
            Delivered = topics.Sum(topic => topic.Delivered),
            Gaps = topics.Sum(topic => topic.Gaps),
            Duplicates = topics.Sum(topic => topic.Duplicates),
            Seconds = Math.Round(Stopwatch.GetElapsedTime(start.AtTicks, end.AtTicks).TotalSeconds, 3),
            CpuSeconds = Math.Round((end.Cpu - start.Cpu).TotalSeconds, 3),
            AllocatedBytes = end.AllocatedBytes - start.AllocatedBytes,
            GcCollections = [end.Gen0 - start.Gen0, end.Gen1 - start.Gen1, end.Gen2 - start.Gen2],
            ResidentBytes = self.WorkingSet64,
            ResidentBytesPerNode = self.WorkingSet64 / plan.Nodes,
            Threads = self.Threads.Count,
            PacketsSent = nodes.Sum(node => node.Read(NodeFigures.PacketsSent)),
            PacketsReceived = nodes.Sum(node => node.Read(NodeFigures.PacketsReceived)),
            Repairs = nodes.Sum(node => node.Read(NodeFigures.Repairs)),
            KernelDrops = nodes.Sum(node => node.Read(NodeFigures.KernelDrops)),
            Regions = nodes.Max(node => node.Read(NodeFigures.Regions)),
        };
    }

    public void Print(bool json)
    {
        JsonElement fields = JsonSerializer.SerializeToElement(this, SwarmJson.Default.SwarmReport);
        if (json)
        {
            Console.Out.WriteLine(fields.GetRawText());
        }
        else
        {
            Terminal.Table(fields.EnumerateObject().Select(field => (field.Name, field.Value.ToString())));
        }
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(SwarmReport))]
internal sealed partial class SwarmJson : JsonSerializerContext;
