// Throw-away: deleted on merge.
using System.Net;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Membership.Service;

internal sealed class StubService(IPEndPoint endPoint) : IAsyncDisposable
{
    public IPEndPoint LocalEndPoint => endPoint;
    public static Task<StubService> StartAsync(IPEndPoint listen, QuickSilverOptions options, ILoggerFactory logs) { _ = options; _ = logs; return Task.FromResult(new StubService(listen)); }
    public ValueTask DisposeAsync() => default;
}
