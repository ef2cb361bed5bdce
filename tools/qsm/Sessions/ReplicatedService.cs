using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Tool.Etcd;

namespace QuickSilver.Tool.Sessions;

// One of several servers of a membership service, over the machine's environment and elected in etcd.
internal sealed class ReplicatedService : IElectionObserver, IAsyncDisposable
{
    private readonly MachineEnvironment _environment;
    private readonly EtcdClient _client;
    private readonly CancellationTokenSource _end = new();
    // Made on the core thread before the election begins.
    private ElectedServer _server = null!;
    private Task _election = Task.CompletedTask;

    private ReplicatedService(MachineEnvironment environment, EtcdClient client)
    {
        _environment = environment;
        _client = client;
    }

    public IPEndPoint LocalEndPoint => _server.LocalEndPoint;

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
            var setup = new ProtocolSetup { Credentials = credentials, Logs = logs, Ephemeral = EphemeralPorts.Read() };
            var protocols = ProtocolOptions.Of(options, setup);
            environment = MachineEnvironment.Start(
                new MachineEnvironmentOptions
                {
                    Name = "QuickSilver membership",
                    LocalAddress = listen.Address,
                    BufferBytes = 16 << 20,
                    Credentials = credentials,
                },
                logs);
            var service = new ReplicatedService(environment, client);
            var logger = logs.CreateLogger("QuickSilver.Membership");
            var refusals = new Refusals(new ServiceCounters(), protocols.Service.Audit ?? logger);
            await service.RunAsync(() =>
                service._server = new ElectedServer(service._environment, protocols.Service, refusals, logger, listen));
            var election = new EtcdElection(new EtcdCluster(client, options.Cluster), service.LocalEndPoint, service, logger);
            service._election = Task.Run(() => election.RunAsync(service._end.Token));
            _ = Task.Run(TakeoverCode.Compile);
            return service;
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            environment?.Dispose();
            client?.Dispose();
            throw exception is CredentialException
                ? new ToolException(ExitCode.Usage, exception.Message, exception)
                : ToolException.OnListen(exception);
        }
    }

    bool IElectionObserver.CanLead => _server.CanLead;

    void IElectionObserver.OnElected(EtcdTerm term) => Post(() => _server.Lead(term, term.GiveUp));

    void IElectionObserver.OnDeposed() => Post(_server.OnDeposed);

    void IElectionObserver.OnLeader(IPEndPoint? leader) => Post(() => _server.Leader = leader);

    public void Post(Action action) => _environment.Post(new ActionRequest(action));

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _election;
        // Its term is over, so it has sent its last word if it led.
        var read = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(() => LastWord.Await(_environment, () => _server.LeavingCount, read.SetResult));
        await read.Task;
        await RunAsync(_server.Dispose);
        _environment.Dispose();
        _client.Dispose();
        _end.Dispose();
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
