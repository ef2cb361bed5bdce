using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Processes.Tests.Scenarios;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Membership.Tests.Stores;

// Over a real etcd.
public sealed class EtcdElectionTests(EtcdMembershipStoreTests.Server server) : IClassFixture<EtcdMembershipStoreTests.Server>
{
    private readonly string _cluster = $"election-{Guid.NewGuid():N}";

    [SkippableFact]
    public async Task Two_servers_with_one_address_do_not_depose_each_other_again_and_again()
    {
        Skip.If(EtcdServer.Missing is not null, EtcdServer.Missing);
        using var client = new EtcdClient(new EtcdAccess([server.Etcd!.Address]), NullLogger.Instance);
        using var end = new CancellationTokenSource();
        var first = new Watcher();
        var second = new Watcher();
        var running = Run(client, first, end.Token);
        await Patience.Until(() => first.Elected == 1);
        // It takes the first for an earlier life of its own.
        running = Task.WhenAll(running, Run(client, second, end.Token));
        await Patience.Until(() => first.Deposed == 1 && second.Elected == 1);
        await Task.Delay(TimeSpan.FromSeconds(4));
        Assert.Equal((1, 1, 1, 0), (first.Elected, first.Deposed, second.Elected, second.Deposed));
        await end.CancelAsync();
        await running;
    }

    private Task Run(EtcdClient client, Watcher watcher, CancellationToken cancellationToken) =>
        new EtcdElection(new EtcdCluster(client, _cluster), new IPEndPoint(IPAddress.Loopback, 7400), watcher, NullLogger.Instance)
            .RunAsync(cancellationToken);

    private sealed class Watcher : IElectionObserver
    {
        private int _elected;
        private int _deposed;

        public int Elected => Volatile.Read(ref _elected);

        public int Deposed => Volatile.Read(ref _deposed);

        public void OnElected(EtcdTerm term) => Interlocked.Increment(ref _elected);

        public void OnDeposed() => Interlocked.Increment(ref _deposed);

        public void OnLeader(IPEndPoint? leader)
        {
        }

        public void Post(Action action) => action();
    }
}
