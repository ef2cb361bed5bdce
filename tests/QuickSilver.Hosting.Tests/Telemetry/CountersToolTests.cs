using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Telemetry;

// What dotnet-counters reads of a process, read in the same way: an event pipe of the runtime with the meter's name.
public sealed class CountersToolTests
{
    [Fact]
    public async Task The_counters_of_a_node_come_through_an_event_pipe_with_their_units_and_tags()
    {
        string cluster = $"pipe {Guid.NewGuid():N}";
        await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = cluster }).OrFail();
        await using var topic = await node.OpenTopicAsync<string>("t").OrFail();
        var client = new DiagnosticsClient(Environment.ProcessId);
        string session = Guid.NewGuid().ToString();
        var provider = new EventPipeProvider(
            "System.Diagnostics.Metrics",
            EventLevel.Informational,
            keywords: 2,
            new Dictionary<string, string>
            {
                ["SessionId"] = session,
                ["ClientId"] = session,
                ["Metrics"] = "QuickSilver",
                ["RefreshInterval"] = "0.2",
                ["MaxTimeSeries"] = "5000",
                ["MaxHistograms"] = "50",
            });
        using var pipe = client.StartEventPipeSession([provider], requestRundown: false);
        var read = new ConcurrentDictionary<string, string>();
        using var source = new EventPipeEventSource(pipe.EventStream);
        source.Dynamic.All += one =>
        {
            if (one.EventName is "CounterRateValuePublished" or "GaugeValuePublished" && (string)one.PayloadByName("sessionId") == session
                && ((string)one.PayloadByName("tags")).Contains($"quicksilver.cluster={cluster}", StringComparison.Ordinal))
            {
                object value = one.PayloadByName(one.EventName[0] == 'C' ? "value" : "lastValue");
                read[(string)one.PayloadByName("instrumentName")] = $"{value} {one.PayloadByName("unit")}";
            }
        };
        var reading = Task.Run(source.Process);
        await topic.PublishAsync("x", PublishCompletion.Stable).OrFail();
        await Patience.Until(() => read.GetValueOrDefault("messaging.client.sent.messages") == "1 {message}"
            && read.GetValueOrDefault("quicksilver.reader.waiting") == "1 {message}"
            && read.ContainsKey("quicksilver.packet.memory"));
        Assert.EndsWith(" By", read["quicksilver.packet.memory"], StringComparison.Ordinal);
        await pipe.StopAsync(CancellationToken.None).OrFail();
        await reading.OrFail();
    }
}
