using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace QuickSilver.Aspire.Hosting;

// Whether the service takes connections. The orchestrator's proxy takes them too, and closes them at once while nothing listens behind it:
// so a connection must also stay open for a moment. The service itself waits for the first message, and sends nothing before.
internal sealed class ServiceHealthCheck(QuickSilverResource resource) : IHealthCheck
{
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(250);

    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        var endpoint = resource.MembershipEndpoint;
        if (!endpoint.IsAllocated)
        {
            return HealthCheckResult.Unhealthy("The endpoint of the membership service is not allocated yet.");
        }

        var endPoint = new IPEndPoint(IPAddress.Loopback, endpoint.Port);
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await socket.ConnectAsync(endPoint, cancellationToken).ConfigureAwait(false);
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            limit.CancelAfter(Moment);
            await socket.ReceiveAsync(new byte[1], limit.Token).ConfigureAwait(false);
            return HealthCheckResult.Unhealthy(
                $"The membership service does not listen behind {endPoint} yet. See the log of the resource.");
        }
        catch (SocketException exception)
        {
            return HealthCheckResult.Unhealthy($"No connection to the membership service at {endPoint}: {exception.Message}", exception);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return HealthCheckResult.Healthy();
        }
    }
}
