using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// The operations of one TCP socket. None of them waits: what cannot be done at once is done later, and its source is named by the poller
// then. None throws for what the network does.
internal interface IStreamSocket
{
    /// <summary>How many bytes one Receive brings at most.</summary>
    const int MostReceivedBytes = 64 << 10;

    /// <summary>Begins to connect. The source is named when it is decided, never within this call.</summary>
    void Connect(IPEndPoint? from, IPEndPoint to);

    /// <summary>How the connecting ended; false: it has not.</summary>
    bool TryTakeConnected(out SocketError error);

    /// <summary>Bytes received; 0 with Success: the peer sends no more; 0 with WouldBlock: nothing is there now.</summary>
    int Receive(Span<byte> into, out SocketError error);

    /// <summary>
    /// The source is not named for what is received until this is undone: bytes that come wait in the kernel. For a stream that is open.
    /// </summary>
    void PauseReceiving(bool isPaused);

    /// <summary>How many bytes the system took. The source is named when it takes more, if it did not take all.</summary>
    int Send(ReadOnlySpan<byte> bytes, out SocketError error);

    /// <summary>The source is not named any more. Sends that are under way continue, and the socket stays open.</summary>
    void Close();
}

// A TCP socket that listens.
internal interface IAcceptSocket
{
    /// <summary>A connection that a peer has made; null with WouldBlock: there is none now.</summary>
    Socket? TryAccept(out SocketError error);

    /// <summary>No connections are accepted until this is undone: those that come wait in the kernel.</summary>
    void Pause(bool isPaused);

    /// <summary>The source is not named any more. The socket stays open.</summary>
    void Close();
}
