using System.Runtime.ExceptionServices;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Storage;
using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Disks;

// A simulated machine, which may also lose its power.
internal sealed class SimulatedLogHouse : LogHouse
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    public SimulatedLogHouse(ulong seed = 1, bool recordTrace = false)
    {
        Cluster = new SimulatedMachines(new SimulationOptions { Seed = seed, RecordTrace = recordTrace });
        Machine = Cluster.AddNode();
    }

    public SimulatedMachines Cluster { get; }

    public SimulatedMachine Machine { get; }

    public DiskModel Model
    {
        get => Machine.Disk.Model;
        set => Machine.Disk.Model = value;
    }

    public override void Do(Action work)
    {
        bool isDone = false;
        Exception? thrown = null;
        Machine.Environment.Post(new ActionRequest(() =>
        {
            thrown = Record.Exception(work);
            isDone = true;
        }));
        Until(() => isDone, "the core thread answers");
        if (thrown is not null)
        {
            ExceptionDispatchInfo.Throw(thrown);
        }
    }

    public override void Until(Func<bool> condition, string what) =>
        Assert.True(Cluster.RunUntil(condition, Limit), $"Waited in vain: {what}.");

    public override void Restart()
    {
        Machine.Crash();
        Machine.Restart();
    }

    public void LosePower()
    {
        Machine.Crash(silently: true);
        Machine.Restart();
    }

    public override void Dispose()
    {
    }

    public override INodeEnvironment Node => Machine.Environment;
}
