using System.Globalization;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Logs;

// One run of campaign "Logs".
internal sealed class LogRun(ulong seed, bool hasLiars = false)
{
    private const int Nodes = 2;
    private const ulong Purpose = 0x4C6F6773;
    private const FaultKinds Always = FaultKinds.Crash;

    private static readonly FaultKinds[] Sometimes =
    [
        FaultKinds.Pause, FaultKinds.DiskFull, FaultKinds.DiskErrors, FaultKinds.DiskReadOnly, FaultKinds.DiskSlowness,
        FaultKinds.DiskAbsence, FaultKinds.DiskRot,
    ];

    private static readonly TimeSpan Faulty = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(20);

    private readonly SeededRandom _random = SeededRandom.Derive(seed, Purpose, 0);
    private readonly LogUser?[] _users = new LogUser?[Nodes];
    private readonly List<LogLedger> _ledgers = [];

    /// <summary>Throws if an invariant broke. Returns what happened, in a line.</summary>
    public string Check()
    {
        var kinds = Always | (hasLiars ? FaultKinds.LostSyncs : FaultKinds.None);
        foreach (var kind in Sometimes)
        {
            kinds |= _random.Chance(0.5) ? kind : FaultKinds.None;
        }

        var plan = new FaultPlan
        {
            Kinds = kinds,
            Until = Faulty,
            LongestFault = TimeSpan.FromMilliseconds(400),
            LongestRest = TimeSpan.FromMilliseconds(400),
            LongestPause = TimeSpan.FromMilliseconds(100),
        };
        var schedule = FaultSchedule.Draw(plan, seed, Nodes);
        var cluster = new SimulatedMachines(seed);
        try
        {
            Play(cluster, schedule);
        }
        catch (Exception exception) when (exception is InvariantException or SimulationException)
        {
            var broken = exception as InvariantException ?? exception.InnerException as InvariantException;
            throw new InvariantException(
                $"Campaign Logs, seed {seed}: {broken?.Message ?? exception.ToString()}\nKinds: {kinds}\n{schedule}");
        }

        return string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {Sum(static one => one.Openings)} openings, {Sum(static one => one.Promised)} records promised, "
            + $"{Sum(static one => one.Found)} found again, {Sum(static one => one.Lost)} rotten, {cluster.Trace.Value:x}");
    }

    private void Play(SimulatedMachines cluster, FaultSchedule schedule)
    {
        cluster.NodeStarted = Begin;
        cluster.NodeEnded = machine =>
        {
            _users[machine.Number] = null;
            if (machine.IsSilent)
            {
                _ledgers[machine.Number].OnPowerLost();
            }
        };
        for (int i = 0; i < Nodes; i++)
        {
            var machine = cluster.AddNode();
            machine.Disk.Model = new DiskModel { Jitter = _random.UpTo(TimeSpan.FromMilliseconds(2)) };
            _ledgers.Add(new LogLedger(machine));
            Begin(machine);
        }

        schedule.Start(cluster);
        cluster.Run(Faulty);
        RequireReady(cluster, "after the faults");
        foreach (var machine in cluster.Nodes)
        {
            machine.Crash(silently: true);
            machine.Restart();
        }

        RequireReady(cluster, "after the last loss of power");
        if (Sum(static one => one.Promised) == 0 || Sum(static one => one.Found) == 0)
        {
            throw new InvariantException("The run promised nothing, or found nothing again.");
        }
    }

    private void Begin(SimulatedMachine machine)
    {
        int preallocated = _random.Below(3) switch { 0 => 0, 1 => 8 << 10, _ => 64 << 10 };
        _users[machine.Number] = new LogUser(
            machine.Environment, _ledgers[machine.Number], new SeededRandom(_random.Next()), preallocated);
    }

    private void RequireReady(SimulatedMachines cluster, string when)
    {
        if (!cluster.RunUntil(() => _users.All(static user => user is { IsReady: true }), EndLimit))
        {
            throw new InvariantException($"I19: not all logs are open {EndLimit.TotalSeconds} s {when}.");
        }
    }

    private long Sum(Func<LogLedger, long> what) => _ledgers.Sum(what);
}
