using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// The kinds beyond the common ones: what takes a certain protocol, machine or network to meet.
internal static partial class RandomFaults
{
    private const int LeastDatagramBytes = 128;
    private const int MostDatagramBytes = 1500;
    private const int MostFlaps = 5;

    private static readonly TimeSpan LongestGap = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan SlowestEvent = TimeSpan.FromMilliseconds(4);
    private static readonly TimeSpan LargestClockStep = TimeSpan.FromDays(1);

    // Its last words are held up from a while before it ends, until the process after it has long begun.
    private static TimeSpan Restart(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Crashable!, random);
        var hold = end - at;
        var dies = at + random.UpTo(hold / 2);
        var gap = random.UpTo(LongestGap < end - dies ? LongestGap : end - dies);
        schedule.Add(at, "F5", $"some datagrams from node {victim} are delayed by up to {hold.TotalMilliseconds} ms",
            c => c.Nodes[victim].Faults.OutboundHold = hold);
        schedule.Add(dies, "F5", $"node {victim} crashes", c => c.Nodes[victim].Crash());
        schedule.Add(dies + gap, "F5", $"node {victim} restarts", c =>
        {
            c.Nodes[victim].Faults.OutboundHold = TimeSpan.Zero;
            Begin(c.Nodes[victim]);
        });
        return end;
    }

    private static TimeSpan Slowness(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        var slowness = random.Between(TimeSpan.FromMicroseconds(100), SlowestEvent);
        schedule.Add(at, "F7", $"node {victim} takes {slowness.TotalMilliseconds} ms for each event",
            c => c.Nodes[victim].Faults.Slowness = slowness);
        schedule.Add(end, "F7", $"node {victim} runs at normal speed again", c => c.Nodes[victim].Faults.Slowness = TimeSpan.Zero);
        return end;
    }

    private static TimeSpan Clock(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        if (random.Chance(0.5))
        {
            var step = random.UpTo(LargestClockStep * 2) - LargestClockStep;
            schedule.Add(at, "F8", $"node {victim}'s wall clock steps by {step:c}", c => c.Nodes[victim].ClockStep += step);
            return end;
        }

        double rate = 0.9 + (random.NextUnit() * 0.2);
        schedule.Add(at, "F8", $"node {victim}'s clocks run at {rate:P1}", c => c.Nodes[victim].Clock.Rate = rate);
        schedule.Add(end, "F8", $"node {victim}'s clocks run at the correct rate", c => c.Nodes[victim].Clock.Rate = 1);
        return end;
    }

    private static TimeSpan BlackHole(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int bytes = LeastDatagramBytes + random.Below(MostDatagramBytes - LeastDatagramBytes);
        schedule.Add(at, "F11", $"datagrams of more than {bytes} bytes are lost",
            c => c.Network.Model = c.Network.Model with { LargestDatagramBytes = bytes });
        schedule.Add(end, "F11", "large datagrams are delivered again",
            c => c.Network.Model = c.Network.Model with { LargestDatagramBytes = c.Network.Baseline.LargestDatagramBytes });
        return end;
    }

    private static TimeSpan MulticastLoss(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        if (plan.Nodes!.Count == 0 || random.Chance(0.5))
        {
            schedule.Add(at, "F12", "multicast stops", c => c.Network.Model = c.Network.Model with { MulticastOff = true });
            schedule.Add(end, "F12", "multicast works again",
                c => c.Network.Model = c.Network.Model with { MulticastOff = c.Network.Baseline.MulticastOff });
            return end;
        }

        int victim = Pick(plan.Nodes!, random);
        schedule.Add(at, "F12", $"node {victim} loses its group memberships", c => c.Nodes[victim].Faults.IsOutOfGroups = true);
        schedule.Add(end, "F12", $"node {victim} has its group memberships again", c => c.Nodes[victim].Faults.IsOutOfGroups = false);
        return end;
    }

    private static TimeSpan Membership(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        switch (random.Below(3))
        {
            case 0:
                EndService(schedule, plan, random, at, end);
                break;
            case 1:
                Flap(schedule, plan, random, at, end);
                break;
            default:
                int count = 1 + random.Below(plan.Crashable!.Count);
                int[] many = [.. Shuffled(plan.Crashable!, random).Take(count).Order()];
                EndAndBegin(schedule, many, at, end);
                break;
        }

        return end;
    }

    // Which machine that is shows only then: where nodes host the service, one of those that do and may crash.
    private static void EndService(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at, TimeSpan end)
    {
        bool silently = random.Chance(0.5);
        SimulatedMachine? host = null;
        schedule.Add(at, "F14", $"the membership service's machine {(silently ? "loses power" : "crashes")}", c =>
        {
            host = c.Nodes.FirstOrDefault(node =>
                node.Life is { Endpoints.IsListening: true } && (node.IsService || plan.Crashable!.Contains(node.Number)));
            host?.Crash(silently);
        });
        schedule.Add(end, "F14", "the machine restarts", _ =>
        {
            if (host is not null)
            {
                Begin(host);
            }
        });
    }

    private static void Flap(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at, TimeSpan end)
    {
        int victim = Pick(plan.Crashable!, random);
        int times = 2 + random.Below(MostFlaps - 1);
        var spacing = (end - at) / (times * 2);
        for (int i = 0; i < times; i++)
        {
            EndAndBegin(schedule, [victim], at + (spacing * i * 2), at + (spacing * ((i * 2) + 1)));
        }
    }

    private static void EndAndBegin(FaultSchedule schedule, int[] victims, TimeSpan at, TimeSpan end)
    {
        string who = string.Join(',', victims);
        schedule.Add(at, "F14", $"{who} crash at the same time", c => Array.ForEach(victims, victim => c.Nodes[victim].Crash()));
        schedule.Add(end, "F14", $"{who} restart at the same time", c => Array.ForEach(victims, victim => Begin(c.Nodes[victim])));
    }

    private static TimeSpan RepairDeafness(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        schedule.Add(at, "F15", $"node {victim} ignores repair requests", c => c.Nodes[victim].Faults.IsDeafToRepair = true);
        schedule.Add(end, "F15", $"node {victim} answers repair requests again", c => c.Nodes[victim].Faults.IsDeafToRepair = false);
        return end;
    }

    private static TimeSpan StrangerPackets(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        double share = random.NextUnit() * 0.2;
        schedule.Add(at, "F17", $"{share:P0} of the datagrams to node {victim} have a copy with another version or kind",
            c => c.Nodes[victim].Faults.ForeignProbability = share);
        schedule.Add(end, "F17", $"no more foreign datagrams to node {victim}", c => c.Nodes[victim].Faults.ForeignProbability = 0);
        return end;
    }

    private static void Begin(SimulatedMachine machine)
    {
        if (!machine.IsUp)
        {
            machine.Restart();
        }
    }
}
