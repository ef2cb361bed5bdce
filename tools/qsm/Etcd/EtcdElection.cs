using System.Diagnostics;
using System.Net;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Tool.Etcd;

/// <summary>Notified of the leader, one call after another.</summary>
internal interface IElectionObserver
{
    /// <summary>Whether this server could lead now. From any thread.</summary>
    bool CanLead { get; }

    /// <summary>This server leads.</summary>
    void OnElected(EtcdTerm term);

    /// <summary>This server does not lead any more.</summary>
    void OnDeposed();

    /// <summary>Another server leads, or none that is known (null).</summary>
    void OnLeader(IPEndPoint? leader);

    /// <summary>Runs an action on the core thread.</summary>
    void Post(Action action);
}

// Makes one of the servers of a cluster the leader, by a key in etcd under a lease.
//
// A server that stands by holds a connection to the leader. When that breaks, and the leader's machine then refuses connections, the
// process is gone, and the server revokes the lease instead of waiting for its end. Revoking is always safe, because a leader whose key is
// gone can claim nothing; a firewall that refuses connections does no harm, because it lets none be made.
internal sealed class EtcdElection(EtcdCluster cluster, IPEndPoint address, IElectionObserver observer, ILogger logger)
{
    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(200);
    // A watch that hears nothing may be one of an etcd member that is cut off.
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan SaidInterval = TimeSpan.FromMinutes(1);
    // The first one may hide the one that matters: members that are slow at first may then refuse.
    private const int MostReasons = 3;
    // More than attempts to lead are made in the life of a lease.
    private const int MostOwnLeases = 16;

    private readonly string _address = address.ToString();
    private readonly HashSet<string> _said = [];
    private long _saidSince;
    private string? _known;
    private bool _hasLooked;
    // The last ones of this process, whether it has led by them or not: it may lead by one without having heard so.
    private readonly Queue<long> _ownLeases = new();

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                var leader = await cluster.ReadLeaderAsync(cancellationToken);
                bool isFirstLook = !_hasLooked;
                _hasLooked = true;
                if (leader is null && observer.CanLead)
                {
                    await CampaignAsync(cancellationToken);
                }
                else if (leader is null)
                {
                    observer.OnLeader(null);
                    await Task.Delay(Retry, cancellationToken);
                }
                else if (leader.Address == _address && (isFirstLook || _ownLeases.Contains(leader.Lease)))
                {
                    // An earlier life of this server, or term. Later it is another server, by mistake: each would end the other's lease.
                    await cluster.RevokeAsync(leader.Lease, cancellationToken);
                }
                else
                {
                    await FollowAsync(leader, cancellationToken);
                }
            }
            catch (EtcdUnavailableException exception)
            {
                SayUnavailable(exception.Message);
                await Task.Delay(Retry, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }
        }
    }

    private async Task CampaignAsync(CancellationToken cancellationToken)
    {
        if (await EtcdTerm.TryAcquireAsync(cluster, _address, RememberLease, observer.Post, logger, cancellationToken) is not { } term)
        {
            return;
        }

        _known = null;
        logger.Leads(term.Last);
        observer.OnElected(term);
        string? reason = null;
        try
        {
            reason = await term.KeepAsync(cancellationToken);
        }
        finally
        {
            await term.EndAsync();
            observer.OnDeposed();
            if (reason is not null)
            {
                logger.Deposed(reason);
            }
        }

        // After the last word of the service, so that the next leader need not wait for the lease's end.
        await term.ReleaseAsync();
    }

    private void RememberLease(long lease)
    {
        _ownLeases.Enqueue(lease);
        if (_ownLeases.Count > MostOwnLeases)
        {
            _ownLeases.Dequeue();
        }
    }

    private async Task FollowAsync(EtcdLeader leader, CancellationToken cancellationToken)
    {
        bool isNamesake = leader.Address == _address;
        if (_known != leader.Address)
        {
            _known = leader.Address;
            if (isNamesake)
            {
                logger.Namesake(leader.Address);
            }
            else
            {
                logger.StandsBy(leader.Address);
            }
        }

        var at = !isNamesake && IPEndPoint.TryParse(leader.Address, out var parsed) ? parsed : null;
        observer.OnLeader(at);
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var death = at is null ? Task.Delay(Timeout.Infinite, over.Token) : LeaderProbe.WaitForDeathAsync(at, over.Token);
        try
        {
            while (await cluster.ReadLeaderAsync(cancellationToken) == leader)
            {
                using var look = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
                var change = cluster.WaitForChangeAsync(leader, LookInterval, look.Token);
                bool isDead = await Task.WhenAny(change, death) == death;
                await look.CancelAsync();
                await change.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                cancellationToken.ThrowIfCancellationRequested();
                if (isDead)
                {
                    logger.LeaderGone(leader.Address);
                    await cluster.RevokeAsync(leader.Lease, cancellationToken);
                    return;
                }
            }
        }
        finally
        {
            await over.CancelAsync();
            await death.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private void SayUnavailable(string reason)
    {
        observer.OnLeader(null);
        long now = Stopwatch.GetTimestamp();
        if (Stopwatch.GetElapsedTime(_saidSince, now) > SaidInterval)
        {
            _saidSince = now;
            _said.Clear();
        }

        if (_said.Count < MostReasons && _said.Add(reason))
        {
            logger.Unavailable(reason);
        }
    }
}
