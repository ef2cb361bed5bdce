using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// What an outsider does to the membership service: bytes that are no TLS, connections that say nothing or half of a greeting, and TLS
// without a certificate. Counts what comes back.
internal sealed class ServiceAttack(QsmNetwork network, int port)
{
    private const int HalfOpen = 100;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    // The beginning of a record of TLS with 512 bytes, of which no more come.
    private static readonly byte[] HalfGreeting = [22, 3, 1, 2, 0, 1, 0, 1, 0xfc];

    /// <summary>Returns the bytes that came back to bytes that are no TLS.</summary>
    public long SendNoise(Random random)
    {
        using var socket = Connect();
        try
        {
            socket.Send(BadPacket.Noise(random, 2000));
            return Drain(socket);
        }
        catch (SocketException)
        {
            return 0;
        }
    }

    /// <summary>
    /// Holds connections open that say nothing, or half of a greeting; returns how many were closed, and the bytes that came.
    /// </summary>
    public (int Closed, int Opened, long Bytes) HoldHalfOpen(Action meanwhile)
    {
        List<Socket> sockets = [];
        try
        {
            for (int i = 0; i < HalfOpen; i++)
            {
                try
                {
                    var socket = Connect();
                    sockets.Add(socket);
                    if (i % 2 == 0)
                    {
                        socket.Send(HalfGreeting);
                    }
                }
                catch (SocketException)
                {
                    // Refused or closed at once, as there are too many of this address.
                }
            }

            meanwhile();
            int closed = 0;
            long bytes = 0;
            foreach (var socket in sockets)
            {
                try
                {
                    bytes += Drain(socket);
                    closed++;
                }
                catch (SocketException exception) when (exception.SocketErrorCode != SocketError.TimedOut)
                {
                    closed++;
                }
                catch (SocketException)
                {
                    // It is still open.
                }
            }

            return (closed, sockets.Count, bytes);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
        }
    }

    /// <summary>Returns the bytes that came over TLS to a client without a certificate, after it said something.</summary>
    public long SpeakWithoutCertificate()
    {
        using var socket = Connect();
        using var stream = new NetworkStream(socket);
        using var tls = new SslStream(stream, leaveInnerStreamOpen: false, (_, _, _, _) => true);
        try
        {
            tls.AuthenticateAsClient("service");
            tls.Write(BadPacket.Noise(new Random(1), 200));
            return tls.Read(new byte[1000]);
        }
        catch (Exception exception) when (exception is IOException or System.Security.Authentication.AuthenticationException)
        {
            return 0;
        }
    }

    private static long Drain(Socket socket)
    {
        byte[] buffer = new byte[4096];
        long bytes = 0;
        for (int count; (count = socket.Receive(buffer)) > 0;)
        {
            bytes += count;
        }

        return bytes;
    }

    private Socket Connect()
    {
        var socket = network.Namespaces.Run(
            network.Node, () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
        socket.ReceiveTimeout = (int)Patience.TotalMilliseconds;
        socket.ConnectSoon(new IPEndPoint(network.Namespaces.Address(1), port));
        return socket;
    }
}
