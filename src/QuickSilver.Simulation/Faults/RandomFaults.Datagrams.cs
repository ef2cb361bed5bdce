using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// The kinds in which a node's datagrams fare otherwise than its streams, or otherwise than they should.
internal static partial class RandomFaults
{
    private const double MostReplayed = 0.05;
    private const double MostCorrupt = 0.02;

    private static TimeSpan DeadDatagrams(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        int way = random.Below(3);
        string what = way switch { 0 => "to and from", 1 => "to", _ => "from" };
        schedule.Add(at, "F19", $"datagrams {what} node {victim} are lost", c =>
        {
            c.Nodes[victim].Faults.HearsNoDatagrams = way != 2;
            c.Nodes[victim].Faults.SendsNoDatagrams = way != 1;
        });
        schedule.Add(end, "F19", $"datagrams of node {victim} are delivered again", c =>
        {
            c.Nodes[victim].Faults.HearsNoDatagrams = false;
            c.Nodes[victim].Faults.SendsNoDatagrams = false;
        });
        return end;
    }

    private static TimeSpan Replay(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        double replayed = random.NextUnit() * MostReplayed;
        double corrupt = random.NextUnit() * MostCorrupt;
        schedule.Add(at, "F18", $"of datagrams to node {victim}, {replayed:P1} are replayed, {corrupt:P1} have a bit flipped", c =>
        {
            c.Nodes[victim].Faults.ReplayProbability = replayed;
            c.Nodes[victim].Faults.CorruptProbability = corrupt;
        });
        schedule.Add(end, "F18", $"datagrams to node {victim} are delivered once and unchanged again", c =>
        {
            c.Nodes[victim].Faults.ReplayProbability = 0;
            c.Nodes[victim].Faults.CorruptProbability = 0;
        });
        return end;
    }

    private static TimeSpan Interface(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        bool losesGroups = random.Chance(0.5);
        var back = losesGroups ? at + random.UpTo(end - at) : end;
        string how = losesGroups ? "up without its groups" : "up";
        schedule.Add(at, "F25", $"node {victim}'s interface is down", c => c.Network.TakeOffline(c.Nodes[victim]));
        schedule.Add(back, "F25", $"node {victim}'s interface is {how}", c =>
        {
            c.Nodes[victim].Faults.IsOffline = false;
            if (losesGroups)
            {
                c.Network.LeaveAll(c.Nodes[victim]);
            }
        });
        if (losesGroups)
        {
            schedule.Add(end, "F25", $"node {victim} has joined its groups again", c => c.Nodes[victim].Life?.Endpoints.JoinAgain());
        }

        return end;
    }
}
