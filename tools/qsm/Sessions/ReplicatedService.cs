using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Sessions;

// One of several servers of a membership service. While it leads it is the service; otherwise it says who leads.
internal sealed class ReplicatedService : IElectionObserver, IAsyncDisposable
{
    private readonly MachineEnvironment _environment;
    private readonly MembershipServiceOptions _options;
    private readonly ILogger _logger;
    // While it stands by.
    private readonly Refusals _refusals;
    private readonly EtcdClient _client;
    private readonly CancellationTokenSource _end = new();
    // On the core thread; exactly one of them is there until the end.
    private Standby? _standby;
    private MembershipService? _service;
    private Task _election = Task.CompletedTask;

    private ReplicatedService(
        MachineEnvironment environment, ProtocolOptions protocols, EtcdClient client, ILoggerFactory logs, IPEndPoint listen)
    {
        _environment = environment;
        _options = protocols.Service;
        _logger = logs.CreateLogger("QuickSilver.Membership");
        _refusals = new Refusals(new ServiceCounters(), _options.Audit ?? _logger);
        _client = client;
        LocalEndPoint = listen;
    }

    public IPEndPoint LocalEndPoint { get; private set; }

    /// <summary>Begins to listen, and to stand for leader. Port 0 takes a free one.</summary>
    public static async Task<ReplicatedService> StartAsync(
        IPEndPoint listen, QuickSilverOptions options, EtcdAccess etcd, ILoggerFactory logs)
    {
        MachineEnvironment? environment = null;
        EtcdClient? client = null;
        try
        {
            client = new EtcdClient(etcd, SecurityComposition.LogOf(logs));
            OptionRules.Check(options);
            var credentials = SecurityComposition.CredentialsOfService(options, logs);
            var protocols = new ProtocolOptions(options, ephemeral: EphemeralPorts.Read()) { Credentials = credentials, Logs = logs };
            environment = MachineEnvironment.Start(
                new MachineEnvironmentOptions
                {
                    Name = "QuickSilver membership",
                    LocalAddress = listen.Address,
                    BufferBytes = 16 << 20,
                    Credentials = credentials,
                },
                logs);
            var server = new ReplicatedService(environment, protocols, client, logs, listen);
            await server.RunAsync(server.StandBy);
            var election = new EtcdElection(new EtcdCluster(client, options.Cluster), server.LocalEndPoint, server, server._logger);
            server._election = Task.Run(() => election.RunAsync(server._end.Token));
            return server;
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            environment?.Dispose();
            client?.Dispose();
            throw exception is CredentialException
                ? new ToolException(ExitCode.Usage, exception.Message, exception)
                : ToolException.OnStart(exception);
        }
    }

    void IElectionObserver.OnElected(EtcdTerm term) => Post(() =>
    {
        _service = new MembershipService(_environment, _options, term, new ServiceCounters(), _logger);
        _standby?.StopListening();
        _service.Start(LocalEndPoint);
        // Whoever waits to hear who leads hears it when it can come.
        _standby?.Leader = LocalEndPoint;
        _standby?.Dispose();
        _standby = null;
    });

    void IElectionObserver.OnDeposed() => Post(() =>
    {
        _service?.Retire(successor: null);
        _service = null;
        StandBy();
    });

    void IElectionObserver.OnLeader(IPEndPoint? leader) => Post(() => _standby?.Leader = leader);

    public void Post(Action action) => _environment.Post(new ActionRequest(action));

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _election;
        await RunAsync(() =>
        {
            _service?.Dispose();
            _standby?.Dispose();
        });
        _environment.Dispose();
        _client.Dispose();
        _end.Dispose();
    }

    private void StandBy()
    {
        _standby = new Standby(_environment, _options.Limits, _refusals, LocalEndPoint);
        LocalEndPoint = _standby.LocalEndPoint;
    }

    private async Task RunAsync(Action action)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(() =>
        {
            try
            {
                action();
                done.SetResult();
            }
            catch (Exception exception)
            {
                done.SetException(exception);
            }
        });
        await done.Task;
    }
}
