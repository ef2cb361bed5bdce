using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// The kinds of faults of disks. They concern nodes that keep logs. A disk does the same whether or not a node uses it.
internal static partial class RandomFaults
{
    private const int MostRoom = 16 << 10;
    private const int MostRottenBits = 4;

    private static readonly TimeSpan SlowestDisk = TimeSpan.FromMilliseconds(200);

    private static TimeSpan DiskFull(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        int room = random.Below(MostRoom);
        return OnDisk(schedule, plan, random, at, "F9", $"has room for {room} bytes more", "has room again",
            disk => disk.Model = disk.Model with { CapacityBytes = disk.UsedBytes + room },
            disk => disk.Model = disk.Model with { CapacityBytes = null });
    }

    private static TimeSpan DiskErrors(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        double writes = random.NextUnit() * 0.1;
        double syncs = random.NextUnit() * 0.1;
        double reads = random.Chance(0.3) ? random.NextUnit() * 0.05 : 0;
        double sectors = random.NextUnit() * 0.5;
        string what = $"fails {writes:P1} of its writes, {syncs:P1} of its syncs and {reads:P1} of its reads, and loses {sectors:P0} of "
            + "its sectors with the power";
        return OnDisk(schedule, plan, random, at, "F9", what, "fails no more",
            disk => disk.Model = disk.Model with
            {
                WriteErrors = writes,
                SyncErrors = syncs,
                ReadErrors = reads,
                LostSectors = sectors,
            },
            disk => disk.Model = disk.Model with { WriteErrors = 0, SyncErrors = 0, ReadErrors = 0, LostSectors = 0 });
    }

    private static TimeSpan DiskReadOnly(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at) =>
        OnDisk(schedule, plan, random, at, "F9", "is read-only", "can be written again",
            disk => disk.Model = disk.Model with { IsReadOnly = true },
            disk => disk.Model = disk.Model with { IsReadOnly = false });

    private static TimeSpan DiskSlowness(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        var delay = random.UpTo(SlowestDisk);
        return OnDisk(schedule, plan, random, at, "F29", $"takes {delay.TotalMilliseconds} ms longer", "has its usual speed again",
            disk => disk.Model = disk.Model with { Delay = delay },
            disk => disk.Model = disk.Model with { Delay = TimeSpan.Zero });
    }

    private static TimeSpan DiskAbsence(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at) =>
        OnDisk(schedule, plan, random, at, "F29", "is gone", "is back",
            disk => disk.Model = disk.Model with { IsAway = true },
            disk => disk.Model = disk.Model with { IsAway = false });

    private static TimeSpan DiskRot(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at)
    {
        int victim = Pick(plan.Nodes!, random);
        int bits = 1 + random.Below(MostRottenBits);
        schedule.Add(at, "F29", $"{bits} bits rot on the disk of node {victim}", c => c.Nodes[victim].Disk.Rot(bits));
        return End(plan, random, at, plan.LongestFault);
    }

    private static TimeSpan LostSyncs(FaultSchedule schedule, FaultPlan plan, SeededRandom random, TimeSpan at) =>
        OnDisk(schedule, plan, random, at, "F29", "reports syncs that it does not do", "does its syncs again",
            disk => disk.Model = disk.Model with { LosesSyncs = true },
            disk => disk.Model = disk.Model with { LosesSyncs = false });

    private static TimeSpan OnDisk(
        FaultSchedule schedule,
        FaultPlan plan,
        SeededRandom random,
        TimeSpan at,
        string fault,
        string what,
        string over,
        Action<SimulatedDisk> begin,
        Action<SimulatedDisk> endOf)
    {
        var end = End(plan, random, at, plan.LongestFault);
        int victim = Pick(plan.Nodes!, random);
        schedule.Add(at, fault, $"the disk of node {victim} {what}", c => begin(c.Nodes[victim].Disk));
        schedule.Add(end, fault, $"the disk of node {victim} {over}", c => endOf(c.Nodes[victim].Disk));
        return end;
    }
}
