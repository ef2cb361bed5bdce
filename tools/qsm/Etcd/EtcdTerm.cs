using System.Diagnostics;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;

namespace QuickSilver.Tool.Etcd;

// The time in which one server leads. Each number is put by a transaction that requires the key by which this server became the leader.
// That key goes when its lease ends, and the next leader reads the last number in the transaction that makes it the leader, so no number
// is given twice, whatever pause lies between a decision and its execution.
//
// The lease is as short as etcd grants one, because nothing shows that a leader stands still but its end. etcd may be away for longer: it
// takes seconds to elect a leader of its own, and then prolongs all leases. So when the lease may have ended and etcd does not answer, the
// term is in doubt: this server removes no node, and claims wait. It is over when etcd says that the lease has ended, or says nothing
// for too long.
internal sealed class EtcdTerm : IMembershipStore
{
    // etcd grants whole seconds, and at least one and a half of its election timeout: two seconds of its default one.
    private static readonly TimeSpan TimeToLive = TimeSpan.FromSeconds(2);
    // Several are lost before the lease ends.
    private static readonly TimeSpan KeepAliveInterval = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan MostDoubt = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(100);
    // What etcd refuses for so long, it refuses until an operator acts.
    private const int QuickRetries = 10;
    private static readonly TimeSpan SlowRetry = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan SaidInterval = TimeSpan.FromMinutes(1);

    private readonly EtcdCluster _cluster;
    private readonly long _lease;
    private readonly long _createRevision;
    private readonly Action<Action> _post;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _end = new();
    private readonly CancellationToken _ended;
    private long _validUntil;
    // The last number that was claimed; numbers are claimed one after another.
    private long _claimed;
    // Why this server cannot continue to lead although it holds the lease; null: it can.
    private string? _ending;
    private volatile string? _obstacle;

    private EtcdTerm(EtcdCluster cluster, long lease, (long Revision, long Last) won, Action<Action> post, ILogger logger)
    {
        (_cluster, _lease, _post, _logger) = (cluster, lease, post, logger);
        (_createRevision, Last) = won;
        _claimed = Last;
        _ended = _end.Token;
    }

    /// <summary>The last number that was claimed before.</summary>
    public long Last { get; }

    public bool IsShared => true;

    public string? Obstacle => _obstacle;

    /// <summary>By this machine's clock, which counts from before etcd began to count: at the latest when etcd ends the lease.</summary>
    public bool IsHeld => Stopwatch.GetTimestamp() < Volatile.Read(ref _validUntil) && !_ended.IsCancellationRequested;

    /// <summary>Leads if no server does; null: another server does.</summary>
    /// <param name="cluster">The cluster of servers.</param>
    /// <param name="address">This server's, by which others find it.</param>
    /// <param name="onGranted">Called with the lease before it leads by it: the answer to that may be lost.</param>
    /// <param name="post">Runs an action on the core thread.</param>
    /// <param name="logger">The service's.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="EtcdUnavailableException">No member of etcd answered.</exception>
    public static async Task<EtcdTerm?> TryAcquireAsync(
        EtcdCluster cluster,
        string address,
        Action<long> onGranted,
        Action<Action> post,
        ILogger logger,
        CancellationToken cancellationToken)
    {
        long begun = Stopwatch.GetTimestamp();
        var (lease, granted) = await cluster.GrantLeaseAsync(TimeToLive, cancellationToken);
        onGranted(lease);
        (long Revision, long Last)? won;
        try
        {
            won = await cluster.TryLeadAsync(address, lease, cancellationToken);
        }
        catch (Exception unanswered) when (unanswered is EtcdUnavailableException or OperationCanceledException)
        {
            // It may be done, or be done yet, and then no other server leads until the lease ends.
            await TryRevokeAsync(cluster, lease);
            throw;
        }

        if (won is null)
        {
            await cluster.RevokeAsync(lease, cancellationToken);
            return null;
        }

        var term = new EtcdTerm(cluster, lease, won.Value, post, logger);
        term.Extend(begun, granted);
        return term;
    }

    /// <summary>Keeps the lease until the term is over. Returns why it is; null: because it was to end.</summary>
    public async Task<string?> KeepAsync(CancellationToken cancellationToken)
    {
        string unanswered = "its lease has ended while etcd did not answer";
        while (true)
        {
            await Task.Delay(KeepAliveInterval, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (cancellationToken.IsCancellationRequested)
            {
                return null;
            }

            if (Volatile.Read(ref _ending) is { } ending)
            {
                return ending;
            }

            long begun = Stopwatch.GetTimestamp();
            try
            {
                var left = await _cluster.KeepAliveAsync(_lease, cancellationToken);
                if (left <= TimeSpan.Zero)
                {
                    return "its lease has ended";
                }

                Extend(begun, left);
            }
            catch (EtcdUnavailableException exception)
            {
                unanswered = $"its lease has ended: {exception.Message.TrimEnd('.')}";
                long validUntil = Volatile.Read(ref _validUntil);
                if (begun > validUntil && Stopwatch.GetElapsedTime(validUntil) > MostDoubt)
                {
                    return unanswered;
                }
            }
            catch (OperationCanceledException)
            {
                return null;
            }
        }
    }

    /// <summary>This server cannot lead, for this reason: <see cref="KeepAsync"/> returns soon. From any thread.</summary>
    public void GiveUp(string reason) => Volatile.Write(ref _ending, reason);

    /// <summary>Claims nothing more, and forgets what waits to be claimed.</summary>
    public Task EndAsync() => _end.CancelAsync();

    public async Task ReleaseAsync()
    {
        await EndAsync();
        await TryRevokeAsync(_cluster, _lease);
    }

    public long LoadEpoch() => ConfigurationNumbers.EpochOf(Last);

    // The number that is claimed next contains it.
    public void SaveEpoch(long epoch)
    {
    }

    public void Claim(long configuration, Action onClaimed) => _ = ClaimAsync(configuration, onClaimed);

    private static async Task TryRevokeAsync(EtcdCluster cluster, long lease)
    {
        try
        {
            await cluster.RevokeAsync(lease, CancellationToken.None);
        }
        catch (EtcdUnavailableException)
        {
            // It ends by itself.
        }
    }

    // Counted from before the request that granted or prolonged the lease.
    private void Extend(long begun, TimeSpan timeToLive) =>
        Volatile.Write(ref _validUntil, begun + (long)(timeToLive.TotalSeconds * Stopwatch.Frequency));

    private async Task ClaimAsync(long configuration, Action onClaimed)
    {
        try
        {
            for (long attempts = 1, said = 0; ; attempts++)
            {
                try
                {
                    long? last = await _cluster.TryPutConfigurationAsync(_createRevision, _claimed, configuration, _ended);
                    _obstacle = null;
                    if (last == configuration)
                    {
                        _claimed = configuration;
                        Notify(onClaimed);
                    }
                    else if (last is not null)
                    {
                        GiveUp($"another client has changed the last number from {_claimed} to {last}");
                    }

                    return;
                }
                catch (EtcdUnavailableException exception)
                {
                    _obstacle = exception.Message;
                    if (attempts == 1 || Stopwatch.GetElapsedTime(said) > SaidInterval)
                    {
                        said = Stopwatch.GetTimestamp();
                        _logger.ClaimWaits(exception.Message, attempts);
                    }

                    await Task.Delay(attempts < QuickRetries ? Retry : SlowRetry, _ended);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The term is over.
        }
    }

    // Between etcd's answer and this call, the process may have stood still until its lease was over. So the service continues with the
    // number only while the term is sure; in doubt it waits.
    private void Notify(Action onClaimed) => _post(() =>
    {
        if (IsHeld)
        {
            onClaimed();
        }
        else
        {
            _ = NotifyLaterAsync(onClaimed);
        }
    });

    private async Task NotifyLaterAsync(Action onClaimed)
    {
        try
        {
            await Task.Delay(Retry, _ended);
            Notify(onClaimed);
        }
        catch (OperationCanceledException)
        {
            // The term is over.
        }
    }
}
