using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Overlapped;

// The overlapped calls of Windows, and its completion port. What a call that begins an operation answers:
//
// - Success: it has ended within the call, its header says how many bytes, and no entry comes.
// - IOPending: it is under way, and an entry comes through the port.
// - Anything else: it has not begun, and no entry comes.
//
// What the pointers name belongs to the system from the call until it has ended.
internal unsafe interface IOverlappedCalls : IDisposable
{
    /// <summary>
    /// Has the operations of the socket end at the port, unless they end within their calls. Once for each socket, before its first
    /// operation.
    /// </summary>
    void Associate(Socket socket);

    SocketError ReceiveMessage(Socket socket, OverlappedMessage* message, OverlappedHeader* operation);

    SocketError Receive(Socket socket, BufferPart* into, OverlappedHeader* operation);

    SocketError Send(Socket socket, BufferPart* from, OverlappedHeader* operation);

    /// <summary>Accepts into a socket that was made for it. The addresses take 128 bytes.</summary>
    SocketError Accept(Socket listener, Socket into, byte* addresses, OverlappedHeader* operation);

    /// <summary>Connects a socket that is bound.</summary>
    SocketError Connect(Socket socket, byte* address, int addressLength, OverlappedHeader* operation);

    /// <summary>The socket of an accept that has ended well, as one that knows its addresses. It replaces the one that was given.</summary>
    Socket Accepted(Socket listener, Socket into);

    /// <summary>Makes a socket whose Connect has ended well one that can be shut down.</summary>
    void Connected(Socket socket);

    /// <summary>Asks that an operation end early. Its entry comes nevertheless, with whatever it ended with.</summary>
    void Cancel(Socket socket, OverlappedHeader* operation);

    /// <summary>What an operation ended with whose entry was taken.</summary>
    SocketError ErrorOf(Socket socket, OverlappedHeader* operation);

    /// <summary>Takes entries from the port, or waits for one; how many. An entry without an operation is a wake.</summary>
    int Take(OverlappedEntry* entries, int most, TimeSpan timeout);

    /// <summary>Puts an entry without an operation into the port. From any thread; harmless after Dispose.</summary>
    void Wake();
}
