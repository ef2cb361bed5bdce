using System.Diagnostics;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Tool.Sessions;

// Runs the membership service over the machine's environment, on a core thread of its own.
internal sealed class StandaloneService : IAsyncDisposable
{
    private readonly MachineEnvironment _environment;
    // The earlier process of a service that is restarted may end later than this one begins.
    private static readonly TimeSpan LeaseWait = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Retry = TimeSpan.FromMilliseconds(100);

    private readonly MembershipService _service;
    private readonly IMembershipStore _store;

    private StandaloneService(
        MachineEnvironment environment, MembershipService service, IMembershipStore store, IPEndPoint localEndPoint)
    {
        _environment = environment;
        _service = service;
        _store = store;
        LocalEndPoint = localEndPoint;
    }

    public IPEndPoint LocalEndPoint { get; }

    /// <summary>Begins to listen; port 0 takes a free one. A state file keeps what a restart must not forget.</summary>
    public static async Task<StandaloneService> StartAsync(
        IPEndPoint listen, QuickSilverOptions options, string? stateFile, ILoggerFactory logs)
    {
        IStreamCredentials? credentials;
        IMembershipStore store;
        try
        {
            OptionRules.Check(options);
            credentials = SecurityComposition.CredentialsOfService(options, logs);
            store = stateFile is null ? new MemoryMembershipStore() : await AcquireAsync(stateFile);
            TrySave(store, stateFile, logs);
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
        var setup = new ProtocolSetup { Credentials = credentials, Logs = logs, Ephemeral = EphemeralPorts.Read() };
        environment.Post(new ActionRequest(() =>
        {
            try
            {
                var service = new MembershipService(
                    environment,
                    ProtocolOptions.Of(options, setup).Service,
                    store,
                    new ServiceCounters(),
                    logs.CreateLogger("QuickSilver.Membership"));
                started.SetResult(new StandaloneService(environment, service, store, service.Start(listen)));
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
            await store.ReleaseAsync();
            throw ToolException.OnListen(exception);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await EndAsync();
        _environment.Dispose();
        await _store.ReleaseAsync();
    }

    // The nodes read that the service ends in order, and close their sessions.
    private Task EndAsync()
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _environment.Post(new ActionRequest(() =>
        {
            _service.Retire(successor: null);
            LastWord.Await(_environment, () => _service.SessionCount, () =>
            {
                _service.Dispose();
                closed.SetResult();
            });
        }));
        return closed.Task;
    }

    // A file that cannot be written is found out now and not when the service has something to remember. A full disk passes, and a service
    // that does not come back for it would be worse than one that has to ask the nodes.
    private static void TrySave(IMembershipStore store, string? stateFile, ILoggerFactory logs)
    {
        try
        {
            store.SaveEpoch(store.LoadEpoch());
        }
        catch (IOException full) when (FileMembershipStore.IsDiskFull(full))
        {
            logs.CreateLogger("QuickSilver.Membership").StateNotWritten(stateFile, full.Message);
        }
    }

    private static async Task<FileMembershipStore> AcquireAsync(string stateFile)
    {
        long begun = Stopwatch.GetTimestamp();
        while (true)
        {
            if (FileMembershipStore.TryAcquire(stateFile) is { } store)
            {
                return store;
            }

            if (Stopwatch.GetElapsedTime(begun) > LeaseWait)
            {
                throw new ToolException(
                    ExitCode.Failed, $"--state: another membership service has '{stateFile}'. End it, or name another file.");
            }

            await Task.Delay(Retry);
        }
    }
}
