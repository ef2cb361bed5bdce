using System.Net;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// What several servers of one service agree on, as an engine with leases keeps it: the leader, and the last number that was claimed.
internal sealed class Lease(SimulatedMachines machines)
{
    public static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(1);

    private LeaderTerm? _term;
    private TimeSpan _endsAt;
    private long _last;

    /// <summary>The server that leads; null: none.</summary>
    public IPEndPoint? Leader => machines.Now < _endsAt ? _term!.Address : null;

    /// <summary>Begins a term; null: another one leads.</summary>
    public LeaderTerm? TryLead(SimulatedEnvironment life, IPEndPoint address, SeededRandom random)
    {
        if (machines.Now < _endsAt)
        {
            return null;
        }

        _term = new LeaderTerm(this, machines, life, address, random, _last);
        TryExtend(_term);
        return _term;
    }

    /// <summary>A server has seen that the process of the leader is gone, and does not wait for the end of its lease.</summary>
    public void EndEarly() => _endsAt = machines.Now < _endsAt ? machines.Now : _endsAt;

    public bool TryExtend(LeaderTerm term)
    {
        if (term != _term || (term.HasBegun && machines.Now >= _endsAt))
        {
            return false;
        }

        _endsAt = machines.Now + TimeToLive;
        term.OnExtended(_endsAt);
        return true;
    }

    /// <summary>The number is the leader's, if it still leads.</summary>
    public bool TryClaim(LeaderTerm term, long number)
    {
        if (term != _term || machines.Now >= _endsAt)
        {
            return false;
        }

        // A claim whose answer was lost is made again.
        if (number < _last || (number == _last && number != term.LastClaimed))
        {
            throw new InvariantException($"I7: the leader at {term.Address} claims configuration {number:x} after {_last:x}.");
        }

        _last = term.LastClaimed = number;
        return true;
    }
}

// The time in which one server leads, which may be over before the server knows. Claims and their answers take their time, and some
// answers are lost.
internal sealed class LeaderTerm(
    Lease lease, SimulatedMachines machines, SimulatedEnvironment life, IPEndPoint address, SeededRandom random, long last)
    : IMembershipStore
{
    private const double LostAnswers = 0.05;

    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan UsualDelay = TimeSpan.FromMilliseconds(2);

    private TimeSpan _validUntil;

    public IPEndPoint Address => address;

    public bool HasBegun => _validUntil > TimeSpan.Zero;

    /// <summary>The last number claimed in this term.</summary>
    public long LastClaimed { get; set; }

    public bool IsHeld => machines.Now < _validUntil;

    public bool IsShared => true;

    private bool IsCutOff => life.Node.Faults.Store.HasFlag(StoreFaults.Unreachable);

    public void OnExtended(TimeSpan until) => _validUntil = until;

    public long LoadEpoch() => ConfigurationNumbers.EpochOf(last);

    // The number that is claimed next contains it.
    public void SaveEpoch(long epoch)
    {
    }

    public void Claim(long configuration, Action onClaimed) => machines.After(Delay(), () => Ask(configuration, onClaimed));

    // A server of the simulation ends by a crash, or is deposed.
    public Task ReleaseAsync() => Task.CompletedTask;

    private TimeSpan Delay() => random.UpTo(UsualDelay + life.Node.Faults.StoreDelay);

    private void Ask(long configuration, Action onClaimed)
    {
        if (!life.IsAlive)
        {
            return;
        }

        if (IsCutOff)
        {
            machines.After(Retry, () => Ask(configuration, onClaimed));
        }
        else if (lease.TryClaim(this, configuration))
        {
            machines.After(Delay(), () => Answer(configuration, onClaimed));
        }
    }

    private void Answer(long configuration, Action onClaimed)
    {
        if (IsCutOff || random.Chance(LostAnswers))
        {
            machines.After(Retry, () => Ask(configuration, onClaimed));
        }
        else if (life.IsAlive)
        {
            life.Post(new ActionRequest(onClaimed));
        }
    }
}
