using System.Diagnostics;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Lines;

namespace QuickSilver.Tool.Etcd;

// The time in which one server leads. Each number is put by a transaction that requires the key by which this server became the leader.
// That key goes when its lease ends, and the next leader reads the last number in the transaction that makes it the leader, so no number
// is given twice, whatever pause lies between a decision and its execution.
internal sealed class EtcdTerm(
    EtcdCluster cluster, long lease, long createRevision, long last, Action<Action> post, ILogger logger, CancellationToken ended)
    : IMembershipStore
{
    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(100);

    private long _validUntil;

    public long Lease => lease;

    /// <summary>By this machine's clock, which counts from before etcd began to count: at the latest when etcd ends the lease.</summary>
    public bool IsHeld => Stopwatch.GetTimestamp() < Volatile.Read(ref _validUntil) && !ended.IsCancellationRequested;

    /// <summary>The lease was granted or kept alive by a request that began then.</summary>
    public void Extend(long begun, TimeSpan timeToLive) =>
        Volatile.Write(ref _validUntil, begun + (long)(timeToLive.TotalSeconds * Stopwatch.Frequency));

    public long LoadEpoch() => ConfigurationNumbers.EpochOf(last);

    // The number that is claimed next contains it.
    public void SaveEpoch(long epoch)
    {
    }

    public void Claim(long configuration, Action onClaimed) => _ = ClaimAsync(configuration, onClaimed);

    private async Task ClaimAsync(long configuration, Action onClaimed)
    {
        try
        {
            while (true)
            {
                try
                {
                    if (await cluster.TryPutConfigurationAsync(createRevision, configuration, ended))
                    {
                        post(onClaimed);
                    }

                    return;
                }
                catch (EtcdUnavailableException exception)
                {
                    logger.Unavailable(exception.Message);
                    await Task.Delay(Retry, ended);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // The term is over.
        }
    }
}
