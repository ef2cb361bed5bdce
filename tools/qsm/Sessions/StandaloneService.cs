using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;

namespace QuickSilver.Tool.Sessions;

// Runs the membership service over the machine's environment, on a core thread of its own.
internal sealed class StandaloneService : IAsyncDisposable
{
    private readonly MachineEnvironment _environment;
    private readonly MembershipService _service;

    private StandaloneService(MachineEnvironment environment, MembershipService service, IPEndPoint localEndPoint)
    {
        _environment = environment;
        _service = service;
        LocalEndPoint = localEndPoint;
    }

    public IPEndPoint LocalEndPoint { get; }

    /// <summary>Begins to listen; port 0 takes a free one. A state file keeps what a restart must not forget.</summary>
    public static async Task<StandaloneService> StartAsync(
        IPEndPoint listen, QuickSilverOptions options, string? stateFile, ILoggerFactory logs)
    {
        IStreamCredentials? credentials;
        IMembershipStore store = stateFile is null ? new MemoryMembershipStore() : new FileMembershipStore(stateFile);
        try
        {
            OptionRules.Check(options);
            credentials = SecurityComposition.CredentialsOf(options, logs);
            // A file that cannot be written is found out now and not when the service has something to remember.
            store.SaveEpoch(store.LoadEpoch());
        }
        catch (QuickSilverOptionsException exception)
        {
            throw ToolException.OnStart(exception);
        }
        catch (Exception exception) when (exception is IOException or InvalidDataException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.Failed, $"--state: {exception.Message}", exception);
        }

        var environment = MachineEnvironment.Start(
            new MachineEnvironmentOptions
            {
                Name = "QuickSilver membership",
                LocalAddress = listen.Address,
                BufferBytes = 16 << 20,
                Credentials = credentials,
            },
            logs);
        var started = new TaskCompletionSource<StandaloneService>(TaskCreationOptions.RunContinuationsAsynchronously);
        environment.Post(new ActionRequest(() =>
        {
            try
            {
                var service = new MembershipService(
                    environment,
                    new ProtocolOptions(options, ephemeral: EphemeralPorts.Read()) { Credentials = credentials, Logs = logs }.Service,
                    store,
                    new ServiceCounters(),
                    logs.CreateLogger("QuickSilver.Membership"));
                started.SetResult(new StandaloneService(environment, service, service.Start(listen)));
            }
            catch (Exception exception)
            {
                started.SetException(exception);
            }
        }));
        try
        {
            return await started.Task;
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            environment.Dispose();
            throw ToolException.OnStart(exception);
        }
    }

    public async ValueTask DisposeAsync()
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _environment.Post(new ActionRequest(() =>
        {
            _service.Dispose();
            closed.SetResult();
        }));
        await closed.Task;
        _environment.Dispose();
    }
}
