using System.Text.Json;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tool.Perf;

namespace QuickSilver.Tool.Tests.Perf;

public sealed class VitalSignsTests
{
    [Fact]
    public async Task The_report_has_figures_of_the_catalogue_under_their_names()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync();
        var signs = JsonSerializer.SerializeToElement(VitalSigns.Of(node));
        string[] names = [.. signs.EnumerateObject().Select(static sign => sign.Name)];
        Assert.Empty(names.Except(NodeFigures.All.Select(static figure => figure.Name)));
        Assert.Equal(0, signs.GetProperty(NodeFigures.PendingPackets.Name).GetInt64());
        Assert.Equal(JsonValueKind.Number, signs.GetProperty(NodeFigures.CollectorPauseTime.Name).ValueKind);
        Assert.Equal(0, signs.GetProperty(NodeFigures.SendLimits.Name).GetProperty("window").GetDouble());
        Assert.Equal(4, signs.GetProperty(NodeFigures.TokenRoundTrip.Name).GetArrayLength());
        Assert.Equal(JsonValueKind.Null, signs.GetProperty(NodeFigures.TimeToAcknowledge.Name).ValueKind);
    }
}
