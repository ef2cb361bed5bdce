using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

// One life of one of several servers: the service while it leads, and otherwise one that says who does. It learns late that it leads no
// more: when it is not cut off from the store or stopped, and a while after that. Until then it continues, beside the next leader.
internal sealed class LeasedServer
{
    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan LatestNotice = TimeSpan.FromMilliseconds(800);

    private readonly SimulatedMachines _machines;
    private readonly SimulatedEnvironment _life;
    private readonly Lease _lease;
    private readonly IPEndPoint _address;
    private readonly SessionLimits _limits;
    private readonly Func<IMembershipStore, MembershipService> _make;
    private readonly SeededRandom _random;
    // On the server's core thread; exactly one of them is there.
    private Standby? _standby;
    private MembershipService? _service;
    private LeaderTerm? _term;
    private bool _isDeposed;

    /// <param name="machine">Its machine, which has just begun to live.</param>
    /// <param name="cluster">The run.</param>
    /// <param name="lease">What the servers agree on.</param>
    /// <param name="address">Where it listens.</param>
    /// <param name="options">Of the service.</param>
    /// <param name="make">Makes the service when it is elected.</param>
    public LeasedServer(
        SimulatedMachine machine, WholeCluster cluster, Lease lease, IPEndPoint address, MembershipServiceOptions options,
        Func<IMembershipStore, MembershipService> make)
    {
        _machines = cluster.Simulation;
        _life = machine.Environment;
        _lease = lease;
        _address = address;
        _limits = options.Limits;
        _make = make;
        ulong which = ((ulong)(uint)machine.Number << 32) | (uint)machine.Lives;
        _random = SeededRandom.Derive(cluster.Seed, purpose: 35, which);
        StandBy();
        _machines.After(_random.UpTo(Pace), Look);
    }

    private bool CanAsk => !_life.Node.IsPaused && !_life.Node.Faults.Store.HasFlag(StoreFaults.Unreachable);

    // The part of it that stands for leader.
    private void Look()
    {
        if (!_life.IsAlive)
        {
            return;
        }

        _machines.After(_random.Between(Pace / 2, Pace), Look);
        if (_isDeposed)
        {
            return;
        }

        if (_term is { } term)
        {
            if (!CanAsk ? !term.IsHeld && !_life.Node.IsPaused : !_lease.TryExtend(term))
            {
                _isDeposed = true;
                _machines.After(_random.UpTo(LatestNotice), () => Post(OnDeposed));
            }
        }
        else if (CanAsk && _lease.TryLead(_life, _address, _random) is { } won)
        {
            _term = won;
            Post(() => OnElected(won));
        }
        else
        {
            var leader = CanAsk ? _lease.Leader : null;
            Post(() => OnLeader(leader));
        }
    }

    private void Post(Action action)
    {
        if (_life.IsAlive)
        {
            _life.Post(new ActionRequest(action));
        }
    }

    private void OnElected(LeaderTerm term)
    {
        _standby?.Dispose();
        _standby = null;
        _service = _make(term);
        _service.Start(_address);
    }

    private void OnDeposed()
    {
        _service?.Retire(successor: null);
        _service = null;
        _term = null;
        _isDeposed = false;
        StandBy();
    }

    private void OnLeader(IPEndPoint? leader)
    {
        if (_standby is not null)
        {
            _standby.Leader = leader;
        }
    }

    private void StandBy() =>
        _standby = new Standby(_life, _limits, new Refusals(new ServiceCounters(), NullLogger.Instance), _address);
}
