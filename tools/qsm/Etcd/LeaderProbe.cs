using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Tool.Etcd;

// Notices at once that the process of a server is gone.
internal static class LeaderProbe
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);
    // Below the time in which a service wants to see who connects join.
    private static readonly TimeSpan Hold = TimeSpan.FromSeconds(3);

    /// <summary>
    /// Completes when a connection to the server has broken and its machine then refused connections twice. A server that cannot be reached
    /// is not known to be gone.
    /// </summary>
    public static async Task WaitForDeathAsync(IPEndPoint server, CancellationToken cancellationToken)
    {
        int refusals = 0;
        bool wasConnected = false;
        while (!wasConnected || refusals < 2)
        {
            try
            {
                using var socket = new Socket(server.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
                await socket.ConnectAsync(server, cancellationToken);
                (wasConnected, refusals) = (true, 0);
                using var hold = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
                hold.CancelAfter(Hold);
                byte[] ignored = new byte[256];
                while (await socket.ReceiveAsync(ignored, hold.Token) > 0)
                {
                }
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                continue;
            }
            catch (SocketException exception)
            {
                refusals = exception.SocketErrorCode == SocketError.ConnectionRefused ? refusals + 1 : 0;
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }
}
