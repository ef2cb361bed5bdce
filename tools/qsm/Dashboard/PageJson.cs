using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// What the page gets: the object of `qsm top --json`, and beside it what the page shows besides. Names are as in that object.
internal sealed record PageSigns(
    TopReport Report, HistoryPoint Point, IReadOnlyList<WaitJson> Waits, IReadOnlyList<DepartedJson> Departed)
{
    public string ToJson() => JsonSerializer.Serialize(this, PageJson.Default.PageSigns);
}

/// <summary>A node that waits, and for whom.</summary>
/// <param name="Node">The id of the node that waits, or that others wait for.</param>
/// <param name="Address">Its address.</param>
/// <param name="Severity">"bad" or "warn".</param>
/// <param name="Description">What happened, in sentences.</param>
/// <param name="WaitsFor">Whom it waits for; null if that is in the sentences.</param>
/// <param name="Remedy">What to do about it; null if the node did not report the reason's kind.</param>
/// <param name="Seconds">How long it has waited; null if that is not known.</param>
internal sealed record WaitJson(
    string Node, string Address, string Severity, string Description, string? WaitsFor, string? Remedy, double? Seconds)
{
    /// <summary>What people call the node; null if it has no name.</summary>
    public string? Name { get; init; }
}

/// <summary>A node that was there within the last minutes.</summary>
/// <param name="Node">Its id.</param>
/// <param name="Address">Its address.</param>
/// <param name="WasSilent">Whether it had been silent before: then the service removed it. Otherwise it left.</param>
/// <param name="At">When it was missing for the first time, in seconds since 1970.</param>
/// <param name="Name">What people called it; null if it had no name.</param>
internal sealed record DepartedJson(string Node, string Address, bool WasSilent, double At, string? Name = null);

internal sealed record PageTrouble(string Reason, double RetrySeconds);

internal sealed record PageHistory(IReadOnlyList<HistoryPoint> Points);

// Events as they are sent to a browser.
internal static class PageEvent
{
    public static ReadOnlyMemory<byte> Signs(PageSigns signs) => Of("signs", signs.ToJson());

    public static ReadOnlyMemory<byte> History(IReadOnlyList<HistoryPoint> points) =>
        Of("history", JsonSerializer.Serialize(new PageHistory(points), PageJson.Default.PageHistory));

    public static ReadOnlyMemory<byte> Trouble(PageTrouble trouble) =>
        Of("trouble", JsonSerializer.Serialize(trouble, PageJson.Default.PageTrouble));

    // JSON has no line breaks, which would end the data.
    private static byte[] Of(string name, string json) => Encoding.UTF8.GetBytes($"event: {name}\ndata: {json}\n\n");
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PageSigns))]
[JsonSerializable(typeof(PageHistory))]
[JsonSerializable(typeof(PageTrouble))]
internal sealed partial class PageJson : JsonSerializerContext;
