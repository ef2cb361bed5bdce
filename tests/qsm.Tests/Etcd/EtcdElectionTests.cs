using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Tests.Etcd;

// Over a real etcd.
public sealed class EtcdElectionTests(EtcdMembershipStoreTests.Server server) : IClassFixture<EtcdMembershipStoreTests.Server>
{
    private readonly string _cluster = $"election-{Guid.NewGuid():N}";

    [Fact]
    public async Task Two_servers_with_one_address_do_not_depose_each_other_again_and_again()
    {
        EtcdServer.SkipIfMissing();
        using var client = new EtcdClient(new EtcdAccess([server.Etcd!.Address]), NullLogger.Instance);
        using var end = new CancellationTokenSource();
        var first = new Watcher();
        var second = new Watcher();
        var running = Run(client, first, end.Token);
        await Patience.Until(() => first.Elected == 1);
        // It takes the first for an earlier life of its own.
        running = Task.WhenAll(running, Run(client, second, end.Token));
        await Patience.Until(() => first.Deposed == 1 && second.Elected == 1);
        // The first looks at the leader several times in that time.
        await UnkeptLease.OutliveAsync(client);
        Assert.Equal((1, 1, 1, 0), (first.Elected, first.Deposed, second.Elected, second.Deposed));
        await end.CancelAsync();
        await running;
    }

    [Fact]
    public async Task A_server_that_is_elected_and_cannot_listen_leaves_leading_to_another_and_leads_again_when_it_can()
    {
        EtcdServer.SkipIfMissing();
        using var client = new EtcdClient(new EtcdAccess([server.Etcd!.Address]), NullLogger.Instance);
        using var end = new CancellationTokenSource();
        var first = new Watcher();
        first.WhenElected = term =>
        {
            first.CanLead = false;
            term.GiveUp("it cannot listen");
        };
        var second = new Watcher { CanLead = false };
        var running = Task.WhenAll(Run(client, first, end.Token), Run(client, second, end.Token, port: 7401));
        await Patience.Until(() => first.Deposed == 1);
        second.CanLead = true;
        await Patience.Until(() => second.Elected == 1);
        Assert.Equal((1, 1, 0), (first.Elected, first.Deposed, second.Deposed));

        first.WhenElected = null;
        first.CanLead = true;
        second.CanLead = false;
        second.Term!.GiveUp("it cannot listen");
        await Patience.Until(() => second.Deposed == 1 && first.Elected == 2);
        await end.CancelAsync();
        await running;
    }

    // It leads by a key of which it has not heard, and no other server can.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_server_that_does_not_hear_that_it_leads_ends_that_and_leads_at_the_next_attempt(bool losesRevocation)
    {
        EtcdServer.SkipIfMissing();
        using var relay = new LossyRelay(server.Etcd!.Address, losesRevocation);
        using var client = new EtcdClient(new EtcdAccess([relay.Address]), NullLogger.Instance);
        using var end = new CancellationTokenSource();
        var watcher = new Watcher();
        var log = new LogRecorder();
        var running = Run(client, watcher, end.Token, log: log);
        await Patience.Until(() => watcher.Elected == 1);
        Assert.Equal((1, losesRevocation ? 1 : 0), (relay.AnswersLost, relay.RequestsLost));
        Assert.False(log.Has(3006), "It takes itself for another server.");
        await end.CancelAsync();
        await running;
    }

    private Task Run(
        EtcdClient client, Watcher watcher, CancellationToken cancellationToken, int port = 7400, ILogger? log = null) =>
        new EtcdElection(
            new EtcdCluster(client, _cluster), new IPEndPoint(IPAddress.Loopback, port), watcher, log ?? NullLogger.Instance)
            .RunAsync(cancellationToken);

    private sealed class Watcher : IElectionObserver
    {
        private int _elected;
        private int _deposed;
        private volatile bool _canLead = true;

        public int Elected => Volatile.Read(ref _elected);

        public int Deposed => Volatile.Read(ref _deposed);

        public bool CanLead
        {
            get => _canLead;
            set => _canLead = value;
        }

        public Action<EtcdTerm>? WhenElected { get; set; }

        public EtcdTerm? Term { get; private set; }

        public void OnElected(EtcdTerm term)
        {
            Term = term;
            WhenElected?.Invoke(term);
            Interlocked.Increment(ref _elected);
        }

        public void OnDeposed() => Interlocked.Increment(ref _deposed);

        public void OnLeader(IPEndPoint? leader)
        {
        }

        public void Post(Action action) => action();
    }
}
