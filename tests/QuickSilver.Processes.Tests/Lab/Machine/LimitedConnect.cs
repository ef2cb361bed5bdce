using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// A system tries for two minutes to reach a listener that answers nothing, and a test that makes many connections would wait for hours.
internal static class LimitedConnect
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    /// <exception cref="SocketException">It was refused, or not answered in time.</exception>
    public static void ConnectSoon(this Socket socket, EndPoint to)
    {
        using var limit = new CancellationTokenSource(Limit);
        try
        {
            socket.ConnectAsync(to, limit.Token).AsTask().GetAwaiter().GetResult();
        }
        catch (OperationCanceledException)
        {
            throw new SocketException((int)SocketError.TimedOut);
        }
    }
}
