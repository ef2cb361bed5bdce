using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Processes.Tests.Scenarios;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Membership.Tests.Stores;

// Over a real etcd, one for all of these tests.
public sealed class EtcdMembershipStoreTests(EtcdMembershipStoreTests.Server server)
    : MembershipStoreContract, IClassFixture<EtcdMembershipStoreTests.Server>, IDisposable
{
    private const int MostAttempts = 20;

    private readonly string _cluster = $"contract-{Guid.NewGuid():N}";
    private EtcdClient? _client;

    public void Dispose() => _client?.Dispose();

    // A lease that nobody keeps ends; one that is kept does not.
    [SkippableFact]
    public async Task A_lease_that_is_kept_lives_on()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        using var enough = new CancellationTokenSource();
        var keeping = term.KeepAsync(enough.Token);
        await Task.Delay(TimeSpan.FromSeconds(4));
        Assert.True(term.IsHeld);
        Assert.False(keeping.IsCompleted);
        await enough.CancelAsync();
        Assert.Null(await keeping);
        await term.ReleaseAsync();
    }

    [SkippableFact]
    public async Task A_server_whose_lease_was_ended_by_another_is_told()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        var keeping = term.KeepAsync(CancellationToken.None);
        var cluster = new EtcdCluster(_client!, _cluster);
        var leader = await cluster.ReadLeaderAsync(CancellationToken.None);
        Assert.Equal("first", leader!.Address);
        await cluster.RevokeAsync(leader.Lease, CancellationToken.None);
        Assert.Equal("its lease has ended", await keeping.WaitAsync(TimeSpan.FromSeconds(30)));
        await term.ReleaseAsync();
    }

    // Its answer was lost, and it comes when the next numbers have been put.
    [SkippableFact]
    public async Task A_number_that_comes_late_is_not_put_over_a_later_one()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        var cluster = new EtcdCluster(_client!, _cluster);
        long revision = (await cluster.ReadLeaderAsync(CancellationToken.None))!.CreateRevision;
        Assert.Equal(5, await cluster.TryPutConfigurationAsync(revision, 0, 5, CancellationToken.None));
        Assert.Equal(5, await cluster.TryPutConfigurationAsync(revision, 0, 5, CancellationToken.None));
        Assert.Equal(6, await cluster.TryPutConfigurationAsync(revision, 5, 6, CancellationToken.None));
        Assert.Equal(6, await cluster.TryPutConfigurationAsync(revision, 0, 5, CancellationToken.None));
        await term.ReleaseAsync();
        Assert.Null(await cluster.TryPutConfigurationAsync(revision, 6, 7, CancellationToken.None));
        var next = (EtcdTerm)(await TryAcquireAsync("second"))!;
        Assert.Equal(6, next.Last);
        await next.ReleaseAsync();
    }

    // Nobody else may change the number; somebody who restores or deletes it takes nobody's lead for good.
    [SkippableFact]
    public async Task A_server_whose_number_was_changed_by_another_ends_its_term()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        var keeping = term.KeepAsync(CancellationToken.None);
        var cluster = new EtcdCluster(_client!, _cluster);
        long revision = (await cluster.ReadLeaderAsync(CancellationToken.None))!.CreateRevision;
        await cluster.TryPutConfigurationAsync(revision, 0, 9, CancellationToken.None);
        term.Claim(1, static () => Assert.Fail("claimed"));
        Assert.Contains("from 0 to 9", await keeping.WaitAsync(TimeSpan.FromSeconds(30)), StringComparison.Ordinal);
        await term.ReleaseAsync();
    }

    private protected override async Task<IMembershipStore?> TryAcquireAsync(string server)
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        _client ??= new EtcdClient(new EtcdAccess([Etcd]), NullLogger.Instance);
        for (int i = 1; ; i++)
        {
            try
            {
                return await EtcdTerm.TryAcquireAsync(
                    new EtcdCluster(_client, _cluster), server, static action => action(), NullLogger.Instance, CancellationToken.None);
            }
            catch (EtcdUnavailableException) when (i < MostAttempts)
            {
                // Short of time, it answers late. A server that wants to lead asks again, too.
            }
        }
    }

    private Uri Etcd => server.Etcd!.Address;

    public sealed class Server : IDisposable
    {
        internal EtcdServer? Etcd { get; } = EtcdServer.Missing is null ? new EtcdServer() : null;

        public void Dispose() => Etcd?.Dispose();
    }
}
