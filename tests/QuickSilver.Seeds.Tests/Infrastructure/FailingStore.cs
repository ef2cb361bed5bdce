using QuickSilver.Core.Requests;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// The store of the only server of a service, which fails as the faults of its machine say: it is not read, it keeps nothing, it answers
// late, or not at all until it is healed. Then the service does not hold it.
internal sealed class FailingStore(SimulatedMachine machine, SimulatedMachines machines, ulong seed) : IMembershipStore
{
    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(100);

    private readonly SeededRandom _random = SeededRandom.Derive(seed, purpose: 34, owner: 0);
    private long _epoch;

    public bool IsHeld => !machine.Faults.Store.HasFlag(StoreFaults.Unreachable);

    public long LoadEpoch() => Has(StoreFaults.RefusesLoads) ? throw new IOException("the disk is gone") : _epoch;

    public void SaveEpoch(long epoch) => _epoch = Has(StoreFaults.RefusesSaves) ? throw new IOException("the disk is full") : epoch;

    public void Claim(long configuration, Action onClaimed)
    {
        if (IsHeld && machine.Faults.StoreDelay == TimeSpan.Zero)
        {
            onClaimed();
            return;
        }

        var life = machine.Environment;
        machines.After(_random.UpTo(machine.Faults.StoreDelay), () => Answer(life, onClaimed));
    }

    public Task ReleaseAsync() => Task.CompletedTask;

    private void Answer(SimulatedEnvironment life, Action onClaimed)
    {
        if (!life.IsAlive)
        {
            return;
        }

        if (IsHeld)
        {
            life.Post(new ActionRequest(onClaimed));
        }
        else
        {
            machines.After(Retry, () => Answer(life, onClaimed));
        }
    }

    private bool Has(StoreFaults fault) => machine.Faults.Store.HasFlag(fault);
}
