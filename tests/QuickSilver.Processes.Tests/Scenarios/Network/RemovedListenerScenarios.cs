using System.Buffers.Binary;
using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// T8: a member that was removed, keeps all keys that it has and continues to listen, to packets that reach it as before.
public sealed class RemovedListenerScenarios : IDisposable
{
    private const int Publisher = 1;
    private const int Removed = 4;
    private const int Messages = 500;
    private const int PayloadBytes = 1_000;
    private const int HeaderBytes = 64;
    private const int DataKind = 1;
    private const int KindOffset = 1;
    private const int ViewNumberOffset = 28;
    private const int RegionOffset = 32;
    private const int KeyEpochOffset = 48;
    private static readonly TimeSpan KeptForLater = TimeSpan.FromSeconds(30);
    private readonly SecretFile _secret = new();
    private readonly StreamNodes _run;

    public RemovedListenerScenarios() => _run = new StreamNodes(new QsmCluster(Removed, secretFileOf: _ => _secret.Path));

    [Fact]
    public void A_removed_member_hears_every_packet_and_opens_none_that_is_sent_after_its_removal()
    {
        var publisher = _run.Node(Publisher);
        NodeProcess[] stay = [.. Enumerable.Range(2, 2).Select(host => _run.Subscriber(host, "wall reliable handler"))];
        var removed = _run.Transient(Removed, "wall reliable handler");
        StreamNodes.Do(publisher, "open wall reliable 3", "open wall");
        var known = ViewsOf(Capture(() => Publish(publisher, [.. stay, removed], Messages)));
        Assert.NotEmpty(known);

        // It says nothing any more, so it is removed. What the others send still reaches it.
        for (int host = 1; host < Removed; host++)
        {
            _run.Cluster.Switch[Removed, host] = Impairment.None with { Blocked = true };
        }

        foreach (var node in stay.Append(publisher))
        {
            Assert.True(SpinWait.SpinUntil(() => Ask(node, "members") == Removed - 1, NodeProcess.Patience), "it was not removed");
        }

        // Until all of the view before is settled.
        Publish(publisher, stay, Messages);
        long before = Drops(removed);
        var captured = Capture(() => Publish(publisher, stay, Messages));
        Assert.NotEmpty(captured);
        Assert.Empty(ViewsOf(captured).Intersect(known));
        Assert.All(captured, static sample => Assert.NotEqual(0u, EpochOf(sample)));
        Assert.True(
            SpinWait.SpinUntil(() => Drops(removed) - before >= captured.Count, KeptForLater),
            $"the removed node has dropped {Drops(removed) - before} packets, and {captured.Count} were captured");
        Assert.Equal(Messages, Ask(removed, "taken wall"));
        _run.EndAndExpectNothingWrong();
    }

    public void Dispose()
    {
        _run.Dispose();
        _secret.Dispose();
    }

    private static void Publish(NodeProcess publisher, NodeProcess[] readers, int messages)
    {
        string told = StreamNodes.Ask(publisher, $"publish wall {messages} {PayloadBytes}", "published wall");
        string sent = StreamNodes.LastNumber(told).ToString(CultureInfo.InvariantCulture);
        Assert.All(readers, reader => Assert.Equal($"has wall {sent} 0", StreamNodes.Ask(reader, $"expect wall 1 {sent}", "has wall")));
    }

    // The data packets among what the switch saw meanwhile. A census keeps 256 packets, so that it may miss some.
    private List<UdpSample> Capture(Action action)
    {
        var census = _run.Cluster.Switch.Census = new UdpCensus();
        action();
        _run.Cluster.Switch.Census = null;
        return [.. census.LatestDatagrams().Where(static sample =>
            sample.IsMulticast && sample.Payload.Length >= HeaderBytes && sample.Payload[KindOffset] == DataKind)];
    }

    private static HashSet<(ulong Region, uint Number)> ViewsOf(IEnumerable<UdpSample> samples) =>
    [
        .. samples.Select(static sample => (
            BinaryPrimitives.ReadUInt64LittleEndian(sample.Payload.AsSpan(RegionOffset)),
            BinaryPrimitives.ReadUInt32LittleEndian(sample.Payload.AsSpan(ViewNumberOffset)))),
    ];

    private static uint EpochOf(UdpSample sample) => BinaryPrimitives.ReadUInt32LittleEndian(sample.Payload.AsSpan(KeyEpochOffset));

    private static long Ask(NodeProcess node, string command) => StreamNodes.LastNumber(StreamNodes.Ask(node, command, command));

    private static long Drops(NodeProcess node) => StreamNodes.Drops(node).Values.Sum();
}
