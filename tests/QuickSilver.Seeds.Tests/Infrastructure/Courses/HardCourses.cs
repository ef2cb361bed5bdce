using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Courses;

// Adds to what was drawn of the first kinds of faults the courses of those that hardships name, each from a stream of its own.
internal static class HardCourses
{
    private const double MostForged = 0.3;

    private static readonly TimeSpan ShortestLoneliness = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan RemovalSpread = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan LongestRestart = TimeSpan.FromMilliseconds(20);

    private static readonly (Hardships Hardship, FaultKinds Kind)[] Kinds =
    [
        (Hardships.DeadDatagrams, FaultKinds.DeadDatagrams),
        (Hardships.Replay, FaultKinds.Replay),
        (Hardships.Interface, FaultKinds.Interface),
    ];

    private static readonly (SystemCalls Calls, string Name)[] Refused =
    [
        (SystemCalls.OpenGroup, "groups"),
        (SystemCalls.OpenGroup | SystemCalls.OpenPort, "ports"),
        (SystemCalls.Connect | SystemCalls.Accept, "connections"),
        (SystemCalls.Send, "sends"),
        (SystemCalls.All, "calls"),
    ];

    public static FaultSchedule Add(FaultSchedule schedule, Scene scene, FaultPlan plan, ulong seed)
    {
        foreach (var (hardship, kind) in Kinds)
        {
            if (scene.Hardships.HasFlag(hardship))
            {
                var course = FaultSchedule.Draw(plan with { Kinds = kind }, seed, scene.Cluster.Nodes);
                foreach (var action in course.Actions.Where(action => action.Fault != "all"))
                {
                    schedule.Add(action.At, action.Fault, action.Description, action.OnMachines!);
                }
            }
        }

        if (scene.Hardships.HasFlag(Hardships.Refusals))
        {
            AddRefusals(schedule, plan, SeededRandom.Derive(seed, purpose: 29, owner: 0));
        }

        if (scene.Hardships.HasFlag(Hardships.LoneHost))
        {
            AddLoneHost(schedule, plan, SeededRandom.Derive(seed, purpose: 29, owner: 1));
        }

        if ((scene.Hardships & (Hardships.StoreFailures | Hardships.SeveralServers)) != 0)
        {
            StoreCourses.Add(schedule, plan, scene.Cluster.ServerNumbers, SeededRandom.Derive(seed, purpose: 29, owner: 2));
        }

        if (scene.Hardships.HasFlag(Hardships.Forgeries))
        {
            AddForgeries(schedule, plan, SeededRandom.Derive(seed, purpose: 29, owner: 3));
        }

        if (scene.Hardships.HasFlag(Hardships.Removals))
        {
            var service = scene.Cluster.Options.Membership.Hosted;
            var limit = service.HeartbeatInterval * service.MissedHeartbeatLimit;
            AddRemovals(schedule, plan, limit, SeededRandom.Derive(seed, purpose: 29, owner: 4));
        }

        NightCourses.Add(schedule, scene, plan, seed);

        if (scene.Hardships.HasFlag(Hardships.MulticastStops))
        {
            // Permanently: the end of all faults does not undo it.
            schedule.Add(plan.Until + TimeSpan.FromTicks(1), "F12", "nothing reaches groups any more",
                c => c.Network.Model = c.Network.Model with { MulticastOff = true });
        }

        return schedule;
    }

    private static void AddRefusals(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + random.UpTo(plan.LongestFault);
            end = end < plan.Until ? end : plan.Until;
            int victim = plan.Nodes![random.Below(plan.Nodes.Count)];
            var (calls, name) = Refused[random.Below(Refused.Length)];
            double share = random.Chance(0.5) ? 1 : random.NextUnit();
            schedule.Add(at, "F20", $"node {victim}'s system refuses {share:P0} of its {name}",
                c => c.Nodes[victim].Faults.Refusals.Begin(calls, share));
            schedule.Add(end, "F20", $"node {victim}'s system refuses nothing more", c => c.Nodes[victim].Faults.Refusals.End());
            at = end;
        }
    }

    private static void AddForgeries(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        for (var at = plan.From; at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + random.UpTo(plan.LongestFault);
            end = end < plan.Until ? end : plan.Until;
            int victim = plan.Nodes![random.Below(plan.Nodes.Count)];
            double share = random.NextUnit() * MostForged;
            schedule.Add(at, "F18", $"{share:P0} of the sealed packets to node {victim} have a forgery behind them",
                c => c.Nodes[victim].Faults.ForgeryProbability = share);
            schedule.Add(end, "F18", $"no more forgeries to node {victim}", c => c.Nodes[victim].Faults.ForgeryProbability = 0);
            at = end;
        }
    }

    // Its neighbours suspect it, the service does not hear it, its session ends, and a newer incarnation comes: each alone removes it.
    private static void AddRemovals(FaultSchedule schedule, FaultPlan plan, TimeSpan limit, SeededRandom random)
    {
        for (var at = plan.From + random.UpTo(plan.LongestRest); at < plan.Until; at += random.UpTo(plan.LongestRest))
        {
            var end = at + limit - RemovalSpread + random.UpTo(RemovalSpread * 2);
            end = end < plan.Until ? end : plan.Until;
            int victim = plan.Crashable![random.Below(plan.Crashable.Count)];
            bool isDead = random.Chance(0.5);
            schedule.Add(at, "F16", $"node {victim} {(isDead ? "loses power" : "stands still")} for about the time in which it is removed",
                c => Silence(c.Nodes[victim], isDead));
            schedule.Add(end, "F16", $"node {victim} ends", c => c.Nodes[victim].Crash());
            schedule.Add(end + random.UpTo(LongestRestart), "F16", $"node {victim} begins again", c => Begin(c.Nodes[victim]));
            at = end;
        }
    }

    private static void Silence(SimulatedMachine machine, bool isDead)
    {
        if (isDead)
        {
            machine.Crash(silently: true);
        }
        else if (machine.IsUp)
        {
            machine.Pause();
        }
    }

    private static void Begin(SimulatedMachine machine)
    {
        if (!machine.IsUp)
        {
            machine.Restart();
        }
    }

    private static void AddLoneHost(FaultSchedule schedule, FaultPlan plan, SeededRandom random)
    {
        var at = plan.From + random.UpTo(plan.LongestRest);
        var end = at + random.Between(ShortestLoneliness, plan.Until - at);
        schedule.Add(at, "F3", "the host is cut off alone", c =>
        {
            if (c.Nodes.FirstOrDefault(node => node.Life is { Endpoints.IsListening: true }) is { } host)
            {
                c.Network.Partition([host.Number], [.. c.Nodes.Select(node => node.Number).Where(number => number != host.Number)]);
            }
        });
        schedule.Add(end, "F3", "the host reaches all again", c => c.Network.Reconnect());
    }
}
