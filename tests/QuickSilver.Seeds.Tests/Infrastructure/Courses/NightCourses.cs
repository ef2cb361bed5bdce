using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// What happens to a cluster that runs for months: addresses change permanently, firewalls cut streams and let datagrams pass, descriptors
// run out, programs come and go all the time, and a member counts wrong. Each course is drawn from a stream of its own.
internal static class NightCourses
{
    // A connection that has not shown who it is gives way from 16 descriptors before the limit on.
    private const int LeastDescriptors = 20;
    private const int MostDescriptors = 60;
    private const double HostShare = 0.4;
    private const double SilentShare = 0.3;
    private const double MostLies = 0.1;
    private const double MostRaised = 0.3;
    private const double OneUseShare = 0.7;
    private const double LargeShare = 0.3;
    private const long LargeBlock = 10_000;

    private static readonly TimeSpan ShortestLife = TimeSpan.FromMilliseconds(60);
    private static readonly TimeSpan LongestLife = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LongestDeath = TimeSpan.FromMilliseconds(30);

    public static void Add(FaultSchedule schedule, Scene scene, FaultPlan plan, ulong seed)
    {
        if (scene.Hardships.HasFlag(Hardships.AddressChanges))
        {
            AddAddresses(schedule, plan, RandomOf(seed, 5));
        }

        if (scene.Hardships.HasFlag(Hardships.DeadStreams))
        {
            AddDeadStreams(schedule, plan, RandomOf(seed, 6));
        }

        if (scene.Hardships.HasFlag(Hardships.FewDescriptors))
        {
            AddFewDescriptors(schedule, plan, scene.Cluster, RandomOf(seed, 7));
        }

        if (scene.Hardships.HasFlag(Hardships.ShortLives))
        {
            AddShortLives(schedule, plan, RandomOf(seed, 8));
        }

        if (scene.Hardships.HasFlag(Hardships.RaisedNumbers))
        {
            AddRaisedNumbers(schedule, plan, RandomOf(seed, 9));
        }

        if (scene.Hardships.HasFlag(Hardships.ShortHeap))
        {
            AddShortHeap(schedule, plan, RandomOf(seed, 10));
        }
    }

    /// <summary>The machine with the membership service now; null: none.</summary>
    public static SimulatedMachine? HostOf(SimulatedMachines machines) =>
        machines.Nodes.FirstOrDefault(static node => node.Life is { Endpoints.IsListening: true });

    /// <summary>A member that means harm, from now on: its packets and its messages to the service have numbers that are not so.</summary>
    public static void BeginToRaise(SimulatedMachine machine, double lies, double raised)
    {
        machine.Faults.LieProbability = lies;
        machine.Faults.RaiseProbability = raised;
    }

    private static SeededRandom RandomOf(ulong seed, ulong owner) => SeededRandom.Derive(seed, purpose: 29, owner);

    // The end of all faults does not undo it. Its process finds out by itself, ends, and the next one has the new address.
    private static void AddAddresses(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest * 2))
        {
            bool isHost = random.Chance(HostShare);
            int victim = plan.Crashable![random.Below(plan.Crashable.Count)];
            string who = isHost ? "the node that hosts the service" : $"node {victim}";
            schedule.Add(at, "F26", $"the interface of {who} gets another address", c =>
            {
                // A service that no node hosts has the address that its nodes were given.
                var host = isHost ? HostOf(c) : null;
                (host is { IsService: false } ? host : c.Nodes[victim]).ChangeAddress();
            });
        }
    }

    private static void AddDeadStreams(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + random.UpTo(plan.LongestFault);
            end = end < plan.Until ? end : plan.Until;
            bool isHost = random.Chance(HostShare);
            int victim = plan.Nodes![random.Below(plan.Nodes.Count)];
            string who = isHost ? "the host of the service" : $"node {victim}";
            SimulatedMachine? found = null;
            schedule.Add(at, "F26", $"no stream passes between {who} and others", c =>
            {
                found = (isHost ? HostOf(c) : null) ?? c.Nodes[victim];
                found.Faults.HasNoStreams = true;
            });
            schedule.Add(end, "F26", $"streams of {who} pass again", _ => found!.Faults.HasNoStreams = false);
            at = end;
        }
    }

    // Of each process that may host the service, for as long as there are faults.
    private static void AddFewDescriptors(FaultSchedule schedule, FaultPlan plan, ClusterSetup cluster, SeededRandom random)
    {
        int limit = LeastDescriptors + random.Below(MostDescriptors - LeastDescriptors);
        int[] hosts = [.. cluster.IsEmbedded ? plan.Nodes! : cluster.ServerNumbers];
        schedule.Add(plan.From, "F20", $"processes that host the service may open {limit} descriptors", c =>
        {
            foreach (int host in hosts)
            {
                c.Nodes[host].Faults.Descriptors = new DescriptorRoom(limit, static () => DateTimeOffset.UnixEpoch);
            }
        });
    }

    private static void AddShortLives(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        int count = 1 + random.Below(2);
        for (int i = 0; i < count; i++)
        {
            int passer = plan.Crashable![random.Below(plan.Crashable.Count)];
            var longest = random.Between(ShortestLife * 2, LongestLife);
            for (var at = plan.From + random.UpTo(LongestLife); at < plan.Until; at += random.Between(ShortestLife, longest))
            {
                bool silently = random.Chance(SilentShare);
                string how = silently ? "loses power" : "ends";
                schedule.Add(at, "F28", $"node {passer} {how} after a short life", c => c.Nodes[passer].Crash(silently));
                schedule.Add(at + random.UpTo(LongestDeath), "F28", $"node {passer} begins", c => Begin(c.Nodes[passer]));
            }
        }
    }

    // One place at which memory is taken, or all of them; small blocks too, or only large ones.
    private static void AddShortHeap(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        var uses = Enum.GetValues<HeapUse>();
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + random.UpTo(plan.LongestFault);
            end = end < plan.Until ? end : plan.Until;
            int victim = plan.Nodes![random.Below(plan.Nodes.Count)];
            HeapUse? only = random.Chance(OneUseShare) ? uses[random.Below(uses.Length)] : null;
            long least = random.Chance(LargeShare) ? LargeBlock : 0;
            double share = random.NextUnit();
            string what = $"{share:P0} of the memory for {only?.ToString() ?? "anything"} in blocks of at least {least} bytes";
            schedule.Add(at, "F21", $"the heap of node {victim} refuses {what}", c => c.Nodes[victim].Faults.Heap.Refuses =
                (use, bytes) => (only is null || only == use) && bytes >= least && random.Chance(share));
            schedule.Add(end, "F21", $"the heap of node {victim} refuses nothing", c => c.Nodes[victim].Faults.Heap.Refuses = null);
            at = end;
        }
    }

    // Nothing is promised to a process that lies, so it ends before all must come to one end.
    private static void AddRaisedNumbers(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + random.UpTo(plan.LongestFault);
            end = end < plan.Until ? end : plan.Until;
            int liar = plan.Crashable![random.Below(plan.Crashable.Count)];
            double lies = random.NextUnit() * MostLies;
            double raised = random.NextUnit() * MostRaised;
            // It joins as one that lies, if it begins in time.
            string share = $"in {lies:P1} of its packets and {raised:P1} of its messages to the service";
            schedule.Add(at, "F22", $"node {liar} begins again, and raises numbers {share}", c =>
            {
                c.Nodes[liar].Crash();
                BeginToRaise(c.Nodes[liar], lies, raised);
                Begin(c.Nodes[liar]);
            });
            schedule.Add(end, "F22", $"node {liar} ends, and the next one counts right", c =>
            {
                BeginToRaise(c.Nodes[liar], 0, 0);
                c.Nodes[liar].Crash();
            });
            schedule.Add(end + random.UpTo(LongestDeath), "F22", $"node {liar} begins", c => Begin(c.Nodes[liar]));
            at = end;
        }
    }

    private static void Begin(SimulatedMachine machine)
    {
        if (!machine.IsUp)
        {
            machine.Restart();
        }
    }
}
