using System.Diagnostics.Metrics;
using System.Text.RegularExpressions;
using QuickSilver.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Diagnostics;

public sealed class NodeFiguresTests
{
    [Fact]
    public void Each_figure_has_a_name_of_its_own_a_unit_and_a_sentence()
    {
        Assert.Equal(NodeFigures.All.Count, NodeFigures.All.DistinctBy(static one => one.Name).Count());
        Assert.All(NodeFigures.All, static one =>
        {
            Assert.Matches(new Regex("^(quicksilver|messaging)(\\.[a-z_]+)+$"), one.Name);
            Assert.Matches(new Regex("^(By|s|\\{[a-z]+\\})$"), one.Unit);
            Assert.Matches(new Regex("^[A-Z].*\\.$"), one.Sentence);
        });
    }

    [Fact]
    public async Task The_meter_has_an_instrument_for_each_figure_and_a_value_of_each_that_is_read()
    {
        string cluster = $"figures {Guid.NewGuid()}";
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Cluster = cluster, MeteredTopics = 1 });
        var instruments = new Dictionary<string, (string? Unit, string? Description, bool IsLevel)>();
        var seen = new HashSet<string>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == NodeMeter.Name)
                {
                    bool isLevel = instrument.GetType().GetGenericTypeDefinition() == typeof(ObservableGauge<>);
                    instruments[instrument.Name] = (instrument.Unit, instrument.Description, isLevel);
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, _, tags, _) => Note(instrument, tags));
        listener.SetMeasurementEventCallback<double>((instrument, _, tags, _) => Note(instrument, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.All(NodeFigures.All, one =>
            Assert.Equal((one.Unit, one.Sentence, one.Kind == FigureKind.Level), instruments[one.Name]));
        // Rings have values from the first sample on.
        var always = NodeFigures.All.Where(static one =>
            one.Kind != FigureKind.Recorded && !one.Tags.Contains("quicksilver.ring.level"));
        Assert.Empty(always.Select(static one => one.Name).Except(seen));

        void Note(Instrument instrument, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            int own = MeterReading.OwnTags(tags);
            if ((string?)tags[own].Value == cluster)
            {
                seen.Add(instrument.Name);
                string[] names = [.. tags[..own].ToArray().Select(static tag => tag.Key)];
                Assert.Equal(NodeFigures.All.Single(one => one.Name == instrument.Name).Tags, names);
            }
        }
    }
}
