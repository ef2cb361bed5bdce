using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Service;

namespace QuickSilver.Tool.Sessions;

// Runs the membership service over the machine's environment, on a core thread of its own.
internal sealed class StandaloneService : IAsyncDisposable
{
    private readonly StubService _service;

    private StandaloneService(StubService service) => _service = service;

    public IPEndPoint LocalEndPoint => _service.LocalEndPoint;

    public static async Task<StandaloneService> StartAsync(IPEndPoint listen, QuickSilverOptions options, ILoggerFactory logs)
    {
        try
        {
            return new StandaloneService(await StubService.StartAsync(listen, options, logs));
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnStart(exception);
        }
    }

    public ValueTask DisposeAsync() => _service.DisposeAsync();
}
