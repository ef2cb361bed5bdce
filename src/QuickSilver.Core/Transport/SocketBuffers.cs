using System.Buffers.Binary;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport;

// Kernel buffers of a socket: asked for past the system's limit where this process may, and read back, because the
// kernel clamps without a word. Linux doubles what is asked, for its own book-keeping, and accounts in those terms.
internal static class SocketBuffers
{
    private const int SocketLevel = 1;
    private const int SendBuffer = 7;
    private const int ReceiveBuffer = 8;
    private const int SendBufferForce = 32;
    private const int ReceiveBufferForce = 33;
    private const int MemoryInfo = 55;
    private const int DropsIndex = 8;

    /// <summary>Asks for a receive buffer; says what was given, in bytes as the kernel accounts them.</summary>
    public static int AskReceive(Socket socket, int bytes)
    {
        if (!OperatingSystem.IsLinux())
        {
            socket.ReceiveBufferSize = bytes;
            return socket.ReceiveBufferSize;
        }

        return AskLinux(socket, ReceiveBufferForce, ReceiveBuffer, bytes);
    }

    public static int AskSend(Socket socket, int bytes)
    {
        if (!OperatingSystem.IsLinux())
        {
            socket.SendBufferSize = bytes;
            return socket.SendBufferSize;
        }

        return AskLinux(socket, SendBufferForce, SendBuffer, bytes);
    }

    /// <summary>Whether the buffer given is smaller than the one asked for.</summary>
    public static bool IsClamped(int askedBytes, int givenBytes) =>
        givenBytes < (OperatingSystem.IsLinux() ? 2L * askedBytes : askedBytes);

    /// <summary>Buffers that the kernel dropped at this socket (a run counts once), modulo 2^32; 0 where it does not tell.</summary>
    public static uint Drops(Socket socket)
    {
        if (!OperatingSystem.IsLinux())
        {
            return 0;
        }

        // SO_MEMINFO: the same figure as the last column of /proc/net/udp, for one socket and in one call.
        Span<byte> info = stackalloc byte[64];
        int length = socket.GetRawSocketOption(SocketLevel, MemoryInfo, info);
        return length >= (DropsIndex + 1) * 4 ? BinaryPrimitives.ReadUInt32LittleEndian(info[(DropsIndex * 4)..]) : 0;
    }

    private static int AskLinux(Socket socket, int forceOption, int option, int bytes)
    {
        if (!TrySet(socket, forceOption, bytes))
        {
            TrySet(socket, option, bytes);
        }

        int given = 0;
        socket.GetRawSocketOption(SocketLevel, option, MemoryMarshal.AsBytes(new Span<int>(ref given)));
        return given;
    }

    private static bool TrySet(Socket socket, int option, int value)
    {
        try
        {
            socket.SetRawSocketOption(SocketLevel, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in value)));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
