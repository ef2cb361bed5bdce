using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// Draws a schedule from a seed. Each kind of fault has its own course of episodes, one after another, and touches what no
// other kind touches, so that the end of one never undoes another; kinds overlap in time freely.
internal static partial class RandomFaults
{
    private const string PlanParameter = "plan";

    private static readonly TimeSpan ShortestSpan = TimeSpan.FromMilliseconds(20);

    private delegate TimeSpan Episode(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at);

    // A kind's place is its bit, so that its course is the same whatever other kinds are asked for.
    private static readonly (FaultKinds Kind, Episode Episode)[] Kinds =
    [
        (FaultKinds.Loss, Loss),
        (FaultKinds.Reordering, Reordering),
        (FaultKinds.Partition, Partition),
        (FaultKinds.Crash, Crash),
        (FaultKinds.Pause, Pause),
        (FaultKinds.MemoryShortage, MemoryShortage),
        (FaultKinds.Restart, Restart),
        (FaultKinds.Slowness, Slowness),
        (FaultKinds.Clock, Clock),
        (FaultKinds.BlackHole, BlackHole),
        (FaultKinds.MulticastLoss, MulticastLoss),
        (FaultKinds.Membership, Membership),
        (FaultKinds.RepairDeafness, RepairDeafness),
        (FaultKinds.StrangerPackets, StrangerPackets),
        (FaultKinds.DeadDatagrams, DeadDatagrams),
        (FaultKinds.Replay, Replay),
        (FaultKinds.Interface, Interface),
        (FaultKinds.DiskFull, DiskFull),
        (FaultKinds.DiskErrors, DiskErrors),
        (FaultKinds.DiskReadOnly, DiskReadOnly),
        (FaultKinds.DiskSlowness, DiskSlowness),
        (FaultKinds.DiskAbsence, DiskAbsence),
        (FaultKinds.DiskRot, DiskRot),
        (FaultKinds.LostSyncs, LostSyncs),
    ];

    /// <param name="plan">What may happen.</param>
    /// <param name="seed">What it is drawn from.</param>
    /// <param name="nodeCount">How many nodes there are, for a plan that names none.</param>
    public static FaultSchedule Draw(FaultPlan plan, ulong seed, int nodeCount)
    {
        var resolved = Check(plan, nodeCount, numbers: int.MaxValue);
        var schedule = new FaultSchedule();
        for (int i = 0; i < Kinds.Length; i++)
        {
            if ((plan.Kinds & Kinds[i].Kind) == 0)
            {
                continue;
            }

            var random = SeededRandom.Derive(seed, purpose: 4, (ulong)i);
            var at = plan.From + random.UpTo(plan.LongestRest);
            while (at < plan.Until)
            {
                at = Kinds[i].Episode(schedule, resolved, random, at) + random.Between(ShortestSpan, Longer(plan.LongestRest));
            }
        }

        return schedule.HealAt(plan.Until);
    }

    /// <summary>Returns the plan, with all nodes if it names none.</summary>
    /// <param name="asked">The plan.</param>
    /// <param name="nodeCount">The number of nodes, for a plan that names none.</param>
    /// <param name="numbers">The numbers below this one are those of machines.</param>
    /// <exception cref="ArgumentException">The plan asks for what cannot be.</exception>
    public static FaultPlan Check(FaultPlan asked, int nodeCount, int numbers)
    {
        var nodes = asked.Nodes ?? [.. Enumerable.Range(0, nodeCount)];
        var plan = asked with { Nodes = nodes, Crashable = asked.Crashable ?? nodes };
        const FaultKinds Ending = FaultKinds.Crash | FaultKinds.Restart | FaultKinds.Membership;
        var known = Kinds.Aggregate(FaultKinds.None, static (all, one) => all | one.Kind);
        if ((plan.Kinds & ~known) is var unknown and not FaultKinds.None)
        {
            throw new ArgumentException(
                $"{nameof(FaultPlan)}.{nameof(FaultPlan.Kinds)} has {(long)unknown}, which is no kind of fault.", PlanParameter);
        }

        CheckNumbers(nameof(FaultPlan.Nodes), nodes, numbers);
        CheckNumbers(nameof(FaultPlan.Crashable), plan.Crashable, numbers);
        const FaultKinds OfNoNode = FaultKinds.Loss | FaultKinds.Reordering | FaultKinds.BlackHole | FaultKinds.MulticastLoss;
        if ((plan.Kinds & Ending) != 0 && plan.Crashable!.Count == 0)
        {
            throw new ArgumentException("The plan includes crashes of processes, but allows no node to crash.", PlanParameter);
        }

        if ((plan.Kinds & ~(OfNoNode | Ending)) != 0 && plan.Nodes!.Count == 0)
        {
            throw new ArgumentException("The plan includes faults of nodes, but allows them for no node.", PlanParameter);
        }

        if (plan.Until < plan.From || plan.From < TimeSpan.Zero)
        {
            throw new ArgumentException(
                $"{nameof(FaultPlan)}.{nameof(FaultPlan.From)} is {plan.From} and {nameof(FaultPlan.Until)} is {plan.Until}. The first "
                    + "must not be negative, and the second not before it.",
                PlanParameter);
        }

        return plan;
    }

    private static void CheckNumbers(string option, IReadOnlyList<int> named, int numbers)
    {
        foreach (int number in named)
        {
            if (number < 0 || number >= numbers)
            {
                string known = number < 0 ? "The number of a node is not negative." : $"The nodes are 0 to {numbers - 1}.";
                throw new ArgumentException($"{nameof(FaultPlan)}.{option} has {number}. {known}", PlanParameter);
            }
        }
    }

    private static TimeSpan Loss(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        double rate = random.NextUnit() * plan.HighestLoss;
        if (random.Chance(1.0 / 3))
        {
            int victim = Pick(plan.Nodes!, random);
            schedule.Add(
                at,
                "F1",
                $"node {victim} loses {rate:P1} of incoming datagrams",
                c => c.Nodes[victim].Model = c.Nodes[victim].Model with { InboundLoss = rate });
            schedule.Add(
                end,
                "F1",
                $"node {victim} loses no more datagrams",
                c => c.Nodes[victim].Model = c.Nodes[victim].Model with { InboundLoss = 0 });
            return end;
        }

        bool bursts = random.Chance(0.5);
        var burst = bursts ? new BurstLoss { BeginProbability = rate / 4 } : null;
        schedule.Add(at, "F1", bursts ? $"bursts of loss start with probability {rate / 4:P1}" : $"{rate:P1} of all datagrams are lost",
            c => c.Network.Model = c.Network.Model with { Loss = bursts ? c.Network.Model.Loss : rate, Burst = burst });
        schedule.Add(end, "F1", "no more loss",
            c => c.Network.Model = c.Network.Model with { Loss = c.Network.Baseline.Loss, Burst = c.Network.Baseline.Burst });
        return end;
    }

    private static TimeSpan Reordering(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        double duplicate = random.NextUnit() * 0.05;
        double reorder = random.NextUnit() * 0.05;
        var hold = random.UpTo(TimeSpan.FromMilliseconds(5));
        var jitter = random.UpTo(TimeSpan.FromMilliseconds(2));
        string what = $"{duplicate:P1} twice, {reorder:P1} held up to {hold.TotalMilliseconds} ms, {jitter.TotalMilliseconds} ms of jitter";
        schedule.Add(at, "F2", what,
            c => c.Network.Model = c.Network.Model with { Duplicate = duplicate, Reorder = reorder, ReorderHold = hold, Jitter = jitter });
        schedule.Add(end, "F2", "no more disorder", c => c.Network.Model = c.Network.Model with
        {
            Duplicate = c.Network.Baseline.Duplicate,
            Reorder = c.Network.Baseline.Reorder,
            ReorderHold = c.Network.Baseline.ReorderHold,
            Jitter = c.Network.Baseline.Jitter,
        });
        return end;
    }

    private static TimeSpan Partition(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestPartition);
        int size = 1 + random.Below(Math.Max(1, plan.Nodes!.Count / 2));
        var apart = Shuffled(plan.Nodes!, random).Take(size).Order().ToArray();
        int way = random.Below(3);
        string what = way switch { 0 => "cut off", 1 => "mute", _ => "deaf" };
        // Without bridges nothing is drawn for them: courses do not change.
        bool isBridged = plan.BridgeShare > 0 && random.Chance(plan.BridgeShare);
        int[] bridges = isBridged ? [.. Shuffled(plan.Nodes!, random).Except(apart).Take(1)] : [];
        what += bridges.Length > 0 ? $", except for node {bridges[0]}" : "";
        schedule.Add(at, "F3", $"{string.Join(",", apart)} {what}", c =>
        {
            var rest = c.Nodes.Select(node => node.Number).Except(apart).Except(bridges).ToArray();
            if (way != 2)
            {
                c.Network.BlockOneWay(apart, rest);
            }

            if (way != 1)
            {
                c.Network.BlockOneWay(rest, apart);
            }
        });
        schedule.Add(end, "F3", "the partition heals", c => c.Network.Reconnect());
        return end;
    }

    private static TimeSpan Crash(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Crashable!, random);
        bool silently = random.Chance(0.5);
        schedule.Add(at, "F4", $"node {victim} {(silently ? "loses power" : "crashes")}", c => c.Nodes[victim].Crash(silently));
        schedule.Add(end, "F4", $"node {victim} restarts", c =>
        {
            if (!c.Nodes[victim].IsUp)
            {
                c.Nodes[victim].Restart();
            }
        });
        return end;
    }

    private static TimeSpan Pause(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestPause);
        int victim = Pick(plan.Nodes!, random);
        var duration = end - at;
        schedule.Add(at, "F6", $"node {victim} pauses for {duration.TotalMilliseconds} ms", c => c.Nodes[victim].Pause(duration));
        return end;
    }

    private static TimeSpan MemoryShortage(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        if (random.Chance(0.5))
        {
            double busy = random.NextUnit();
            schedule.Add(at, "F13", $"node {victim} has no buffer for {busy:P0} of its sends",
                c => c.Nodes[victim].Model = c.Nodes[victim].Model with { SendBusyProbability = busy });
        }
        else
        {
            int bytes = 2048 << random.Below(5);
            schedule.Add(at, "F13", $"node {victim} has receive buffers of {bytes} bytes",
                c => c.Nodes[victim].Model = c.Nodes[victim].Model with { ReceiveBufferLimitBytes = bytes });
        }

        schedule.Add(end, "F13", $"node {victim} has buffers again", c =>
        {
            c.Nodes[victim].Model = c.Nodes[victim].Model with { SendBusyProbability = 0, ReceiveBufferLimitBytes = null };
        });
        return end;
    }

    private static TimeSpan End(FaultPlan plan, SeededRandom random, TimeSpan at, TimeSpan longest)
    {
        var end = at + random.Between(ShortestSpan, Longer(longest));
        return end < plan.Until ? end : plan.Until;
    }

    private static TimeSpan Longer(TimeSpan longest) => longest > ShortestSpan ? longest : ShortestSpan;

    private static int Pick(IReadOnlyList<int> nodes, SeededRandom random) => nodes[random.Below(nodes.Count)];

    private static int[] Shuffled(IReadOnlyList<int> nodes, SeededRandom random)
    {
        var shuffled = nodes.ToArray();
        for (int i = shuffled.Length - 1; i > 0; i--)
        {
            int other = random.Below(i + 1);
            (shuffled[i], shuffled[other]) = (shuffled[other], shuffled[i]);
        }

        return shuffled;
    }
}
