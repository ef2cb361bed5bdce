using System.Buffers.Binary;
using System.Net.Sockets;
using System.Numerics;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport;

// Kernel buffers of a socket: asked for past the system's limit where this process may, and read back, because the
// kernel clamps without notice. Linux doubles what is asked, for its own book-keeping, and accounts in those terms.
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

    /// <summary>Buffers that the kernel dropped at this socket (a run counts once), modulo 2^32; 0 where it does not report them.</summary>
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

// What a receive buffer holds of datagrams that wait one by one.
//
// Intuition: Linux charges a receive buffer for the memory in which a datagram lies, with its bookkeeping, and not for its bytes. For a run
// that waits as one, both are nearly the same. A datagram that waits alone lies in memory of a power of two, so one of 2,047 bytes is
// charged 4,352. Application: a node that reports how much may be under way to a buffer reports the part that fits. A buffer is given twice
// what was asked for, and half of it is left for such costs, which is enough for most sizes and too little for some.
// What goes wrong: drivers of network cards use memory of other sizes. What does not fit then is dropped, and the window shrinks.
internal static class DatagramCharge
{
    // struct sk_buff, and struct skb_shared_info at the end of the memory.
    private const int BookkeepingBytes = 256;
    private const int TrailerBytes = 320;
    // The headers of a packet, and the room before them.
    private const int HeadBytes = 58;
    // Of a datagram that was cut from a run in software, whose bytes lie apart.
    private const int CutBytes = 832;

    // A sender has half of the room under way that is reported to it. It is charged this part of the buffer at most: the rest is for
    // senders that begin.
    private const double MostCharged = 0.8;

    /// <summary>What Linux charges for a datagram of so many bytes that waits alone.</summary>
    public static int Of(int bytes) => Math.Max(
        (int)BitOperations.RoundUpToPowerOf2((uint)(bytes + HeadBytes + TrailerBytes)) + BookkeepingBytes, bytes + CutBytes);

    /// <summary>
    /// The bytes that a buffer has for datagrams of this size that wait alone, half of which a sender may have under way.
    /// </summary>
    public static long Room(long bufferBytes, int datagramBytes) =>
        Math.Min(bufferBytes, (long)(bufferBytes * (2 * MostCharged * datagramBytes / Of(datagramBytes))));
}
