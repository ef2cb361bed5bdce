using System.Collections.Immutable;
using System.Text.Json;
using QuickSilver.Core.Wire;

namespace QuickSilver.Diagnostics;

// Why packets are dropped, as the meter names it.
internal static class PacketDrop
{
    /// <summary>By the number of the reason; the first is no reason.</summary>
    public static ImmutableArray<string> Reasons { get; } =
        [.. Enum.GetNames<DropReason>().Select(JsonNamingPolicy.SnakeCaseLower.ConvertName)];
}
