using System.Runtime.ExceptionServices;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Completions;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Machines;

public sealed class SimulatedCompletionTests() : CompletionContract(new SimulatedCompletionHouse());

internal sealed class SimulatedCompletionHouse : CompletionHouse
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(50);

    private readonly SimulatedMachines _cluster = new(new SimulationOptions { Seed = 3, PoolBytes = BufferBytes, TrackLeases = true });
    private readonly SimulatedMachine _machine;

    public SimulatedCompletionHouse()
    {
        _machine = _cluster.AddNode();
    }

    public override INodeEnvironment Environment => _machine.Environment;

    public override T Do<T>(Func<T> work)
    {
        T? result = default;
        bool isDone = false;
        Exception? thrown = null;
        Environment.Post(new ActionRequest(() =>
        {
            thrown = Record.Exception(() => result = work());
            isDone = true;
        }));
        Until(() => isDone, "the core thread answers");
        if (thrown is not null)
        {
            ExceptionDispatchInfo.Throw(thrown);
        }

        return result!;
    }

    public override void Until(Func<bool> condition, string what) =>
        Assert.True(_cluster.RunUntil(condition, Limit), $"Waited in vain: {what}.");

    public override void Pass() => _cluster.Run(Moment);

    public override void Dispose()
    {
    }
}
