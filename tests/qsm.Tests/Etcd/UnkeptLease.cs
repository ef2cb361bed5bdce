using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// A lease that no server keeps, of a cluster of its own: when it has ended, a lease that was taken before and still lives is kept.
internal static class UnkeptLease
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    /// <summary>Takes one, and waits until etcd has ended it.</summary>
    public static async Task OutliveAsync(EtcdClient client)
    {
        using var limit = new CancellationTokenSource(Limit);
        var cluster = new EtcdCluster(client, $"unkept-{Guid.NewGuid():N}");
        while (!await TryAsync(() => TakeAsync(cluster, limit.Token)))
        {
            await Task.Delay(Pause, limit.Token);
        }

        while (!await TryAsync(async () => await cluster.ReadLeaderAsync(limit.Token) is null))
        {
            await Task.Delay(Pause, limit.Token);
        }
    }

    private static async Task<bool> TakeAsync(EtcdCluster cluster, CancellationToken cancellationToken) =>
        await EtcdTerm.TryAcquireAsync(
            cluster, "unkept", static _ => { }, static action => action(), NullLogger.Instance, cancellationToken) is not null;

    // Short of time, etcd answers late.
    private static async Task<bool> TryAsync(Func<Task<bool>> attempt)
    {
        try
        {
            return await attempt();
        }
        catch (EtcdUnavailableException)
        {
            return false;
        }
    }
}
