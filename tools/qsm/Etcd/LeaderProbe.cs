using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Tool.Etcd;

// Notices at once that the process of a server is gone.
internal static class LeaderProbe
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

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
                byte[] ignored = new byte[256];
                while (await socket.ReceiveAsync(ignored, cancellationToken) > 0)
                {
                }
            }
            catch (SocketException exception)
            {
                refusals = exception.SocketErrorCode == SocketError.ConnectionRefused ? refusals + 1 : 0;
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }
}
