using System.Diagnostics.Metrics;
using QuickSilver.Composition;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Tests.Diagnostics;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

public sealed class NodeTests
{
    [Fact]
    public async Task A_node_that_finds_no_service_says_so_at_its_start_timeout()
    {
        await using var parts = new FakeParts { Joins = false };
        var starting = parts.StartAsync(
            new QuickSilverOptions { Membership = { Servers = ["gms:7400"] }, StartTimeout = TimeSpan.FromSeconds(4) });
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => parts.Time.RunUntilAsync(starting));
        Assert.Contains("gms:7400", failure.Message);
        Assert.Contains("00:00:04", failure.Message);
        Assert.True(parts.IsStopped);
    }

    [Theory]
    [InlineData("cannot connect to 10.0.0.9:7400 from 10.0.0.1: connection refused")]
    [InlineData("timed out waiting to be admitted")]
    public async Task A_node_whose_service_does_not_come_through_says_why_at_its_start_timeout(string why)
    {
        await using var parts = new FakeParts { Joins = false, LastFailure = why };
        var starting = parts.StartAsync(new QuickSilverOptions { Membership = { Servers = ["gms:7400"] } });
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => parts.Time.RunUntilAsync(starting));
        Assert.Contains($"the service at gms:7400 did not admit this node ({why}).", failure.Message);
    }

    [Fact]
    public async Task A_host_name_that_does_not_resolve_is_named_with_what_to_do()
    {
        // Too long for any name, so that no server is asked.
        string host = new('x', 300);
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(
            () => QuickSilverNode.StartAsync(new QuickSilverOptions { Membership = { Servers = [$"{host}:7400"] } }));
        Assert.StartsWith(
            $"Cannot resolve the membership service {host}:7400: no IPv4 address was found for the host name", failure.Message);
        Assert.EndsWith("Correct Membership:Servers, or give the address of the host in place of its name.", failure.Message);
    }

    [Fact]
    public async Task A_node_that_the_service_refuses_says_why_at_its_start_timeout()
    {
        await using var parts = new FakeParts { Joins = false, LastRefusal = "This is the membership service of cluster 'b'." };
        var starting = parts.StartAsync(new QuickSilverOptions { Membership = { Servers = ["gms:7400"] } });
        var failure = await Assert.ThrowsAsync<MembershipUnreachableException>(() => parts.Time.RunUntilAsync(starting));
        Assert.Contains("gms:7400 refused this node: This is the membership service of cluster 'b'.", failure.Message);
    }

    [Fact]
    public async Task A_node_that_no_datagram_reaches_is_not_ready_and_says_why()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        parts.Isolation = new Trouble(
            TroubleKind.DatagramsLost, "No datagram has come back; check the firewall.", DateTimeOffset.UnixEpoch);
        Assert.Equal((true, false), (node.Status.IsLive, node.Status.IsReady));
        Assert.Contains("check the firewall", node.Status.Reason);
        parts.Isolation = null;
        Assert.True(node.Status.IsReady);
    }

    [Fact]
    public async Task A_service_elsewhere_is_refused_from_the_loopback_interface_with_both_addresses_named()
    {
        var options = new QuickSilverOptions { Membership = { Servers = ["198.51.100.7:7400"] } };
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => QuickSilverNode.StartAsync(options));
        Assert.Contains("127.0.0.1", failure.Message);
        Assert.Contains("198.51.100.7:7400", failure.Message);
        Assert.Contains("Interface", failure.Message);
    }

    [Fact]
    public async Task A_node_whose_parts_cannot_begin_fails_with_their_reason()
    {
        await using var parts = new FakeParts { BeginFault = new IOException("no port") };
        var starting = parts.StartAsync();
        await Assert.ThrowsAsync<IOException>(() => parts.Time.RunUntilAsync(starting));
        Assert.True(parts.IsStopped);
    }

    [Fact]
    public async Task A_node_knows_itself_as_its_receivers_will()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        Assert.Equal(new NodeId(0x51, 7), node.Id);
    }

    [Fact]
    public async Task A_node_is_ready_while_the_service_is_reachable_and_live_meanwhile()
    {
        await using var parts = new FakeParts();
        var logs = new RecordingLogs();
        var node = await parts.StartAsync(logs: logs);
        Assert.Equal(new NodeStatus(NodeState.Running, true, true, 0, null), node.Status);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(false));
        Assert.Equal((true, false), (node.Status.IsLive, node.Status.IsReady));
        Assert.Contains("unreachable", node.Status.Reason);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(true));
        Assert.True(node.Status.IsReady);
        Assert.Equal([1600, 1601, 1602], logs.Entries.Select(entry => entry.Id));
    }

    [Fact]
    public async Task A_core_thread_that_does_not_turn_is_not_live()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        for (int i = 0; i < 20; i++)
        {
            parts.Time.Advance(TimeSpan.FromMilliseconds(500));
            await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromMilliseconds(500)));
            Assert.True(node.Status.IsLive);
        }

        parts.Time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal((false, false), (node.Status.IsLive, node.Status.IsReady));
        Assert.Contains("has not run for", node.Status.Reason);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromMilliseconds(500)));
        Assert.True(node.Status.IsLive);
    }

    [Fact]
    public async Task An_expelled_node_ends_its_topics_with_the_reason_after_what_was_received()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>("t").OrFail();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        await parts.Core.RunAsync(() =>
        {
            parts.ReceiverOf("t").Deliver(1, "x"u8);
            parts.Service.Observer!.OnExpelled("ten heartbeats missed");
        });
        Assert.Equal(NodeState.Expelled, node.Status.State);
        Assert.Contains("ten heartbeats missed", node.Status.Reason);
        Assert.True(await reader.MoveNextAsync().OrFail());
        await Assert.ThrowsAsync<NodeExpelledException>(() => reader.MoveNextAsync().AsTask()).OrFail();
        await Assert.ThrowsAsync<NodeExpelledException>(() => topic.PublishAsync("x").AsTask());
        await Assert.ThrowsAsync<NodeExpelledException>(() => node.OpenTopicAsync<string>("u")).OrFail();
        await node.DisposeAsync().OrFail();
    }

    [Fact]
    public async Task Counters_say_what_went_through_and_the_meter_shows_the_same()
    {
        await using var parts = new FakeParts
        {
            IsSegmented = true,
            Counters = new LayerCounters
            {
                Multicast = new MulticastCounters
                {
                    RepairsSent = 2,
                    RepairsReceived = 3,
                    KernelDrops = 6,
                    PullsSent = 18,
                    CollectiveNaksSent = 19,
                    CollectiveNaksReceived = 20,
                    Regions = 2,
                    UnheardSenders = 8,
                    DeafMembers = 9,
                    SmallPaths = 28,
                    SmallestPathBytes = 1252,
                    PausesReported = 27,
                    OpenViews = 22,
                    SupersededViews = 23,
                    OldestSupersededTicks = TimeSpan.FromSeconds(24).Ticks,
                    ConfigurationAgeTicks = TimeSpan.FromSeconds(25).Ticks,
                    Configuration = 26,
                    ConfigurationsApplied = 29,
                },
                Core = new CoreCounters
                {
                    LongSteps = 10,
                    PauseTicks = TimeSpan.FromSeconds(21).Ticks,
                    LongestPauseTicks = TimeSpan.FromSeconds(22).Ticks,
                    PausesNotRunning = 23,
                    PausesOfCollector = 24,
                    PausesOfCompiler = 25,
                    PausesOfHandlers = 26,
                    QuantaExceeded = 11,
                    LateAlarms = 12,
                    GcPauseTicks = TimeSpan.FromSeconds(13).Ticks,
                    InputTicks = TimeSpan.FromSeconds(14).Ticks,
                    AlarmTicks = TimeSpan.FromSeconds(15).Ticks,
                    RequestTicks = TimeSpan.FromSeconds(6).Ticks,
                    OutputTicks = TimeSpan.FromSeconds(10).Ticks,
                },
                Retention = new RetentionBudget(limitBytes: 100) { Bytes = 7, Packets = 21 },
            },
        };
        Assert.NotNull(parts.Core.Buffers.TryRent());
        string cluster = $"meter {Guid.NewGuid()}";
        var node = await parts.StartAsync(new QuickSilverOptions { Cluster = cluster });
        var seen = new Dictionary<string, double>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == "QuickSilver")
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Note(instrument.Name, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Note(instrument.Name, value, tags));
        listener.Start();
        var topic = await node.OpenTopicAsync<string>("t").OrFail();
        using var handler = topic.SubscribeInline((in Message<string> _) => { });
        parts.SenderOf("t").Stabilizes = true;
        await topic.PublishAsync("12345", PublishCompletion.Stable).OrFail();
        await parts.Core.RunAsync(() =>
        {
            parts.ReceiverOf("t").Deliver(1, "123"u8);
            parts.ReceiverOf("t").Gap(2, 5, TopicGapReason.SenderGone);
        });
        var counters = node.GetCounters();
        Assert.Equal(
            (1L, 5L, 1L, 3L, 4L, 29L),
            (counters.Published, counters.PublishedBytes, counters.Delivered, counters.DeliveredBytes, counters.Gaps,
                counters.ConfigurationsApplied));
        Assert.Equal(
            new NodeGauges
            {
                Regions = 2,
                UnacknowledgedBytes = 7,
                UnheardSenders = 8,
                DeafMembers = 9,
                SmallPaths = 28,
                SmallestPathBytes = 1252,
                PacketMemoryBytes = SlabPool.BlockBytes,
                PendingPackets = 21,
                Views = 22,
                SupersededViews = 23,
                OldestSupersededView = TimeSpan.FromSeconds(24),
                ConfigurationAge = TimeSpan.FromSeconds(25),
                Configuration = 26,
            },
            node.GetGauges() with { PublishQueueBytes = 0, PublishedPerSecond = 0, DeliveredPerSecond = 0 });
        Assert.Equal("gso", node.Status.DatagramPath);
        listener.RecordObservableInstruments();
        Assert.Equal(1, seen["messaging.client.sent.messages"]);
        Assert.Equal(1, seen["messaging.client.consumed.messages"]);
        Assert.Equal(4, seen["quicksilver.gaps"]);
        Assert.Equal((5, 6), (seen["quicksilver.repairs"], seen["quicksilver.kernel.drops"]));
        string[] repair = ["requests", "naks.sent", "naks.received"];
        Assert.Equal([18, 19, 20], repair.Select(name => seen[$"quicksilver.repair.{name}"]));
        Assert.Equal(7, seen["quicksilver.unacknowledged"]);
        Assert.Equal(8, seen["quicksilver.unheard"]);
        Assert.Equal(9, seen["quicksilver.deaf"]);
        Assert.Equal((28, 1252), (seen["quicksilver.paths.small"], seen["quicksilver.path.bytes"]));
        Assert.Equal(0, seen["quicksilver.publish.stable.duration"]);
        string[] core = ["long_steps", "quanta.exceeded", "alarms.late", "gc.pause.time", "receive.time", "alarm.time", "request.time"];
        Assert.Equal([10, 11, 12, 13, 14, 15, 16], core.Select(name => seen[$"quicksilver.core.{name}"]));
        string[] pauses = ["pause.time", "pause.longest", "pauses.not_running", "pauses.collector", "pauses.compiler", "pauses.handlers"];
        Assert.Equal([21, 22, 23, 24, 25, 26], pauses.Select(name => seen[$"quicksilver.core.{name}"]));
        Assert.Equal(27, seen["quicksilver.pauses.reported"]);
        Assert.Equal(SlabPool.BlockBytes, seen["quicksilver.packet.memory"]);
        Assert.Equal(29, seen["quicksilver.configurations"]);
        string[] levels = ["pending", "views", "views.superseded", "views.superseded.age", "configuration.age"];
        Assert.Equal([21, 22, 23, 24, 25], levels.Select(name => seen[$"quicksilver.{name}"]));

        void Note(string name, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            if ((string?)tags[MeterReading.OwnTags(tags)].Value == cluster)
            {
                seen[name] = value;
            }
        }
    }

    [Fact]
    public async Task Times_are_published_by_queue_by_limit_and_by_class()
    {
        var times = new LayerCounters { Core = new CoreCounters { AlarmTicks = TimeSpan.TicksPerSecond } };
        times.Core.AlarmLateness.Add(TimeSpan.FromMilliseconds(3));
        times.Multicast.TokenRoundTrips.Add(1, TimeSpan.FromMilliseconds(3));
        times.Multicast.Limits.Change(StreamLimit.Idle, StreamLimit.Window, TimeSpan.Zero);
        times.Multicast.Limits.BringUpToDate(TimeSpan.FromSeconds(2));
        await using var parts = new FakeParts { Counters = times };
        string cluster = $"times {Guid.NewGuid()}";
        var node = await parts.StartAsync(new QuickSilverOptions { Cluster = cluster });
        var seen = new Dictionary<string, double>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == "QuickSilver")
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Note(instrument, value, tags));
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Note(instrument, value, tags));
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal(1, seen["quicksilver.core.queue.time alarms"]);
        Assert.Equal(0, seen["quicksilver.core.queue.time disk"]);
        Assert.Equal(2, seen["quicksilver.send.limited.time window"]);
        Assert.Equal(0, seen["quicksilver.core.alarm.lateness 0.002048"]);
        Assert.Equal(1, seen["quicksilver.core.alarm.lateness 0.008192"]);
        Assert.Equal(1, seen["quicksilver.core.alarm.lateness +Inf"]);
        Assert.Equal(1, seen["quicksilver.token.duration +Inf 1"]);
        Assert.DoesNotContain("quicksilver.token.duration +Inf 0", seen.Keys);
        Assert.Equal(1, node.Read(NodeFigures.TokenRoundTrip)[1].Count);

        void Note(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            // The last two are those of the node.
            if ((string?)tags[MeterReading.OwnTags(tags)].Value == cluster)
            {
                var own = tags[..MeterReading.OwnTags(tags)].ToArray();
                seen[string.Join(' ', [instrument.Name, .. own.Select(static tag => tag.Value)])] = value;
            }
        }
    }

    [Fact]
    public async Task The_latency_of_accepted_messages_is_sampled_one_at_a_time()
    {
        await using var parts = new FakeParts();
        string cluster = $"latency {Guid.NewGuid()}";
        var node = await parts.StartAsync(new QuickSilverOptions { Cluster = cluster });
        var seen = new List<double>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument is Histogram<double> && instrument.Meter.Name == "QuickSilver")
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<double>((_, value, tags, _) =>
        {
            if ((string?)tags[MeterReading.OwnTags(tags)].Value == cluster)
            {
                seen.Add(value);
            }
        });
        listener.Start();
        var topic = await node.OpenTopicAsync<string>("t").OrFail();
        var sender = parts.SenderOf("t");
        for (int i = 0; i < 10; i++)
        {
            await topic.PublishAsync("x").OrFail();
        }

        await Patience.Until(() => sender.Count == 10);
        await parts.Core.RunAsync(() =>
        {
            parts.Core.Advance(TimeSpan.FromMilliseconds(3));
            sender.MakeStable();
        });
        Assert.Equal([0.003], seen);
    }
}
