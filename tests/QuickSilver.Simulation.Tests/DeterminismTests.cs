using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests;

// I20: the same seed gives the same trace hash; under F1, F2, F3, F4, F6, F13 at once.
public sealed class DeterminismTests
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(3);

    [Fact]
    public void One_seed_gives_one_trace_whatever_breaks()
    {
        Prop.ForAll<ulong>(seed => Run(seed).Trace.Value == Run(seed).Trace.Value)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(10));
    }

    [Fact]
    public void Every_seed_gives_another_trace()
    {
        var values = Enumerable.Range(0, 10).Select(seed => Run((ulong)seed).Trace.Value);
        Assert.Equal(10, values.Distinct().Count());
    }

    [Fact]
    public void A_known_seed_gives_the_trace_it_gave_on_every_other_machine()
    {
        // Changes with every deliberate change of the simulator's behaviour; by itself, never.
        var trace = Run(42).Trace;
        Assert.Equal((9215756188382770790UL, 56734L), (trace.Value, trace.Entries));
    }

    [Fact]
    public void Sharing_packet_memory_changes_no_run()
    {
        Prop.ForAll<ulong>(seed => Run(seed, shared: true).Trace.Value == Run(seed).Trace.Value)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(10));
    }

    [Fact]
    public void Recording_does_not_change_a_run_and_shows_where_two_part()
    {
        var one = Run(5, record: true);
        Assert.Equal(Run(5).Trace.Value, one.Trace.Value);
        Assert.Null(TraceHash.FirstDifference(one.Trace, Run(5, record: true).Trace));

        var other = Run(5, record: true, extraDelay: TimeSpan.FromMilliseconds(500));
        Assert.NotEqual(one.Trace.Value, other.Trace.Value);
        Assert.StartsWith("Entry ", TraceHash.FirstDifference(one.Trace, other.Trace), StringComparison.Ordinal);
    }

    [Fact]
    public void The_hash_distinguishes_order_time_node_kind_and_detail()
    {
        static ulong Of(params TraceEntry[] entries)
        {
            var trace = new TraceHash(record: false);
            foreach (var entry in entries)
            {
                trace.Add(entry.At, entry.Node, entry.Kind, entry.Detail);
            }

            return trace.Value;
        }

        var first = new TraceEntry(TimeSpan.FromSeconds(1), 1, TraceKind.Alarm, 0);
        var second = new TraceEntry(TimeSpan.FromSeconds(1), 2, TraceKind.Alarm, 0);
        ulong[] values =
        [
            Of(), Of(first), Of(first, second), Of(second, first), Of(first with { At = TimeSpan.Zero }),
            Of(first with { Kind = TraceKind.Request }), Of(first with { Detail = 1 }), Of(first with { Node = -1 }),
        ];
        Assert.Equal(values.Length, values.Distinct().Count());
    }

    [Fact]
    public void The_hash_of_bytes_sees_every_byte_and_the_length()
    {
        Prop.ForAll<byte[], byte>((bytes, index) =>
        {
            ulong whole = TraceHash.Of(bytes);
            bool longerDiffers = TraceHash.Of([.. bytes, 0]) != whole;
            if (bytes.Length == 0)
            {
                return longerDiffers;
            }

            var changed = bytes.ToArray();
            changed[index % bytes.Length] ^= 1;
            return longerDiffers && TraceHash.Of(changed) != whole && TraceHash.Of(bytes.ToArray()) == whole;
        }).QuickCheckThrowOnFailure();
    }

    private static SimulatedMachines Run(ulong seed, bool record = false, TimeSpan extraDelay = default, bool shared = false)
    {
        var cluster = new SimulatedMachines(new SimulationOptions
        {
            Seed = seed,
            RecordTrace = record,
            SharesPacketMemory = shared,
            Link = new LinkModel { Jitter = TimeSpan.FromMicroseconds(100), Corrupt = 0.001, BytesPerSecond = 10_000_000 },
        });
        var chatters = new List<Chatter>();
        cluster.NodeStarted = node => chatters.Add(new Chatter(node.Environment));
        foreach (var node in cluster.AddNodes(5))
        {
            node.Model = node.Model with { CostPerDatagram = TimeSpan.FromMicroseconds(5) };
            chatters.Add(new Chatter(node.Environment));
        }

        var plan = new FaultPlan { Nodes = [1, 2, 3, 4], Crashable = [3, 4], Until = Length };
        FaultSchedule.Draw(plan, seed, cluster.Nodes.Count).Start(cluster);
        var changed = new LinkModel { Delay = new LinkModel().Delay + extraDelay };
        cluster.After(TimeSpan.FromSeconds(1), () => cluster.Network.Link(0, 1).SetModel(changed));
        cluster.Run(Length + TimeSpan.FromMilliseconds(100));
        Assert.True(chatters.Sum(chatter => chatter.Heard) > 1000);
        return cluster;
    }
}
