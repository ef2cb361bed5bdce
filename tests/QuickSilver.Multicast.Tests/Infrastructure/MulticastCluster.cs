using QuickSilver.Core.Buffers;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// Whole multicast nodes on the simulator under a scripted membership.
internal sealed class MulticastCluster
{
    public MulticastCluster(ulong seed, int nodes, LinkModel? link = null, MulticastOptions? options = null, int poolBlocks = 1024)
    {
        Simulation = new SimulatedMachines(new SimulationOptions
        {
            Seed = seed,
            Link = link ?? new LinkModel(),
            PoolBytes = (long)poolBlocks * SlabPool.BlockBytes,
        });
        Service = new ScriptedService(Simulation);
        Options = options ?? new MulticastOptions { ClusterId = 7 };
        Service.Root = Options.IsSealed ? new SecretKey(new byte[SecretKey.Bytes]) : null;
        foreach (var node in Simulation.AddNodes(nodes))
        {
            Hosts.Add(new Host(this, node, Options));
        }
    }

    public SimulatedMachines Simulation { get; }
    public ScriptedService Service { get; }
    public MulticastOptions Options { get; }
    public List<Host> Hosts { get; } = [];

    /// <summary>The topics that end with their only subscriber.</summary>
    public HashSet<ulong> Inboxes { get; } = [];

    /// <summary>The number of the reliable streams of each topic; 0 of those that are not here.</summary>
    public Dictionary<ulong, int> StreamNumbers { get; } = [];

    public Host this[int index] => Hosts[index];

    /// <summary>Commits the roles given so far and lets the news arrive everywhere.</summary>
    public void Commit()
    {
        Service.Commit();
        Simulation.Run(TimeSpan.FromMilliseconds(20));
    }

    public Host Restart(int index)
    {
        var node = Simulation.Nodes[index];
        node.Restart();
        var host = new Host(this, node, Options);
        Hosts.Add(host);
        return host;
    }

    public bool RunUntil(Func<bool> condition, double seconds = 30) => Simulation.RunUntil(condition, TimeSpan.FromSeconds(seconds));

    /// <summary>I1 to I4 for one receiver, sender and topic: a contiguous run (but for reported gaps), nothing twice or unsent.</summary>
    public static void AssertRun(Host receiver, Host sender, ulong topic, long? first = null, long? last = null)
    {
        long expected = first ?? 0;
        foreach (var one in receiver.Log.Where(one => one.Sender == sender.Key && one.Topic == topic))
        {
            if (expected != 0 && one.Sequence != expected)
            {
                bool told = receiver.Gaps.Any(gap => gap.Sender == sender.Key && gap.TopicId == topic
                    && gap.First <= expected && gap.Last >= one.Sequence - 1);
                Assert.True(
                    told && one.Sequence > expected,
                    $"Node {receiver.Node.Number} got {one.Sequence} of {sender.Key}'s topic {topic}, expected {expected}.");
            }

            Assert.True(sender.Published.TryGetValue((topic, one.Sequence), out uint hash), $"Number {one.Sequence} was never published.");
            Assert.Equal(hash, one.Hash);
            expected = one.Sequence + 1;
        }

        if (last is { } end)
        {
            Assert.True(
                expected == end + 1,
                $"Node {receiver.Node.Number} of {sender.Key}'s topic {topic}: ended before {expected}, not after {end}.");
        }
    }

    public static bool HasAll(Host receiver, NodeKey sender, ulong topic, int count) =>
        receiver.Log.Count(one => one.Sender == sender && one.Topic == topic) >= count;
}
