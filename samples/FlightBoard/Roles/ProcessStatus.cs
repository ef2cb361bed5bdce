using System.Text.Json;
using System.Text.Json.Serialization;

namespace FlightBoard.Roles;

internal enum Phase
{
    Starting,
    Ready,
    Running,
    Done,
}

// What a process says of itself, several times a second: one line of JSON on its standard output, which the board reads.
internal sealed record ProcessStatus
{
    public Phase Phase { get; init; }

    /// <summary>Departures published or received, of how many.</summary>
    public long Count { get; init; }

    public long Expected { get; init; }

    public double PerSecond { get; init; }

    /// <summary>The departure time last seen: the flight board's clock.</summary>
    public DateTime Clock { get; init; }

    public double MeanDelayMinutes { get; init; }

    public string WorstOrigin { get; init; } = "";

    public double WorstDelayMinutes { get; init; }

    public int Topics { get; init; }

    /// <summary>The most at one time: they fall apart as the processes leave.</summary>
    public long Regions { get; init; }

    public long Repairs { get; init; }

    public long KernelDrops { get; init; }

    public string DatagramPath { get; init; } = "";

    /// <summary>A fault; null while there is none.</summary>
    public string? Fault { get; init; }

    public static ProcessStatus? Parse(string line)
    {
        try
        {
            return JsonSerializer.Deserialize(line, StatusJson.Default.ProcessStatus);
        }
        catch (JsonException)
        {
            return null;
        }
    }

    public void Print()
    {
        Console.Out.WriteLine(JsonSerializer.Serialize(this, StatusJson.Default.ProcessStatus));
        Console.Out.Flush();
    }
}

[JsonSerializable(typeof(ProcessStatus))]
internal sealed partial class StatusJson : JsonSerializerContext;
