using System.Collections.Concurrent;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Tests.Service.Stores;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// Over a real etcd, one for all of these tests.
public sealed class EtcdMembershipStoreTests(EtcdMembershipStoreTests.Server server)
    : MembershipStoreContract, IClassFixture<EtcdMembershipStoreTests.Server>, IDisposable
{
    private const int MostAttempts = 20;

    private readonly string _cluster = $"contract-{Guid.NewGuid():N}";
    private readonly CancellationTokenSource _end = new();
    private readonly List<Task> _keeping = [];
    private EtcdClient? _client;

    public void Dispose()
    {
        _end.Cancel();
        Task.WhenAll(_keeping).Wait();
        _client?.Dispose();
        _end.Dispose();
    }

    // A lease that no server keeps ends; one that is kept does not.
    [Fact]
    public async Task A_lease_that_is_kept_lives_on()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        using var enough = new CancellationTokenSource();
        var keeping = term.KeepAsync(enough.Token);
        await UnkeptLease.OutliveAsync(_client!);
        Assert.True(term.IsHeld);
        Assert.False(keeping.IsCompleted);
        await enough.CancelAsync();
        Assert.Null(await keeping);
        await term.ReleaseAsync();
    }

    [Fact]
    public async Task A_server_whose_lease_another_ended_is_notified()
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
    [Fact]
    public async Task A_number_that_comes_late_is_not_put_over_a_later_one()
    {
        var term = (EtcdTerm)(await TryAcquireAsync("first"))!;
        Keep(term);
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

    // The process was stopped between etcd's answer and what follows from it.
    [Fact]
    public async Task A_server_that_stood_still_since_its_number_was_put_continues_with_it_only_if_it_still_leads()
    {
        var posted = new ConcurrentQueue<Action>();
        var term = (await TryAcquireAsync("first", posted.Enqueue))!;
        int claimed = 0;
        term.Claim(1, () => claimed++);
        await Patience.Until(() => !posted.IsEmpty);
        await Patience.Until(() => !term.IsHeld);
        RunAll();
        Assert.Equal(0, claimed);
        await Patience.Until(() => !posted.IsEmpty);

        var keeping = term.KeepAsync(CancellationToken.None);
        Assert.Equal("its lease has ended", await keeping.WaitAsync(TimeSpan.FromSeconds(30)));
        await term.EndAsync();
        RunAll();
        await Task.Delay(TimeSpan.FromMilliseconds(300));
        RunAll();
        Assert.Equal((0, 0), (claimed, posted.Count));

        void RunAll()
        {
            while (posted.TryDequeue(out var action))
            {
                action();
            }
        }
    }

    // Only the leader may change the number. An operator who restores or deletes it ends no lead permanently.
    [Fact]
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

    private protected override void Keep(IMembershipStore store) => _keeping.Add(((EtcdTerm)store).KeepAsync(_end.Token));

    private protected override async Task<IMembershipStore?> TryAcquireAsync(string server) =>
        await TryAcquireAsync(server, static action => action());

    private async Task<EtcdTerm?> TryAcquireAsync(string server, Action<Action> post)
    {
        EtcdServer.SkipIfMissing();
        _client ??= new EtcdClient(new EtcdAccess([Etcd]), NullLogger.Instance);
        for (int i = 1; ; i++)
        {
            try
            {
                return await EtcdTerm.TryAcquireAsync(
                    new EtcdCluster(_client, _cluster), server, static _ => { }, post, NullLogger.Instance, CancellationToken.None);
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
