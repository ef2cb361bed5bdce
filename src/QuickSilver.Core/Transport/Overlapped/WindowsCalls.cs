using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace QuickSilver.Core.Transport.Overlapped;

// The overlapped calls as Windows has them. THIS HAS NEVER RUN.
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsCalls : IOverlappedCalls
{
    private const int SocketLevel = 0xFFFF;
    private const int UpdateAcceptContext = 0x700B;
    private const int UpdateConnectContext = 0x7010;
    private const int AddressBytes = 64;
    private const byte SkipPortOnSuccess = 1;
    private const uint WaitTimeout = 258;
    private const uint Infinite = uint.MaxValue;

    private static readonly Guid ReceiveMessageId = new("f689d7c8-6f1f-436b-8a53-e54fe351c322");
    private static readonly Guid AcceptId = new("b5367df1-cbac-11cf-95ca-00805f48a192");
    private static readonly Guid ConnectId = new("25a207b9-ddf3-4660-8ee9-76e58c74063e");

    private readonly SafeFileHandle _port;
    private delegate* unmanaged[Stdcall]<nint, OverlappedMessage*, uint*, OverlappedHeader*, void*, int> _receiveMessage;
    private delegate* unmanaged[Stdcall]<nint, nint, byte*, uint, uint, uint, uint*, OverlappedHeader*, int> _accept;
    private delegate* unmanaged[Stdcall]<nint, byte*, int, void*, uint, uint*, OverlappedHeader*, int> _connect;

    public WindowsCalls()
    {
        _port = WindowsLibrary.CreateIoCompletionPort(-1, 0, 0, 1);
        if (_port.IsInvalid)
        {
            throw new TransportException($"CreateIoCompletionPort failed: {Marshal.GetLastPInvokeErrorMessage()}.");
        }
    }

    public void Associate(Socket socket)
    {
        var same = WindowsLibrary.CreateIoCompletionPort(socket.Handle, _port.DangerousGetHandle(), 0, 0);
        if (same.IsInvalid)
        {
            throw new TransportException($"A socket cannot be associated with the port: {Marshal.GetLastPInvokeErrorMessage()}.");
        }

        // The same port comes back, already owned above; this handle object must not close it a second time.
        same.SetHandleAsInvalid();
        if (WindowsLibrary.SetFileCompletionNotificationModes(socket.Handle, SkipPortOnSuccess) == 0)
        {
            throw new TransportException($"A socket cannot be set to skip the port: {Marshal.GetLastPInvokeErrorMessage()}.");
        }
    }

    public SocketError ReceiveMessage(Socket socket, OverlappedMessage* message, OverlappedHeader* operation)
    {
        if (_receiveMessage is null)
        {
            _receiveMessage = (delegate* unmanaged[Stdcall]<nint, OverlappedMessage*, uint*, OverlappedHeader*, void*, int>)Extension(
                socket, ReceiveMessageId);
        }

        uint bytes;
        Marshal.SetLastSystemError(0);
        int failed = _receiveMessage(socket.Handle, message, &bytes, operation, null);
        return Answer(failed == 0, Marshal.GetLastSystemError(), bytes, operation);
    }

    public SocketError Receive(Socket socket, BufferPart* into, OverlappedHeader* operation)
    {
        uint bytes;
        uint flags = 0;
        int failed = WindowsLibrary.WSARecv(socket.Handle, into, 1, &bytes, &flags, operation, null);
        return Answer(failed == 0, Marshal.GetLastPInvokeError(), bytes, operation);
    }

    public SocketError Send(Socket socket, BufferPart* from, OverlappedHeader* operation)
    {
        uint bytes;
        int failed = WindowsLibrary.WSASend(socket.Handle, from, 1, &bytes, 0, operation, null);
        return Answer(failed == 0, Marshal.GetLastPInvokeError(), bytes, operation);
    }

    public SocketError Accept(Socket listener, Socket into, byte* addresses, OverlappedHeader* operation)
    {
        if (_accept is null)
        {
            _accept = (delegate* unmanaged[Stdcall]<nint, nint, byte*, uint, uint, uint, uint*, OverlappedHeader*, int>)Extension(
                listener, AcceptId);
        }

        // No first bytes are waited for: a peer that sends nothing would keep all others out.
        uint received;
        Marshal.SetLastSystemError(0);
        int isDone = _accept(listener.Handle, into.Handle, addresses, 0, AddressBytes, AddressBytes, &received, operation);
        return Answer(isDone != 0, Marshal.GetLastSystemError(), 0, operation);
    }

    public SocketError Connect(Socket socket, byte* address, int addressLength, OverlappedHeader* operation)
    {
        if (_connect is null)
        {
            _connect = (delegate* unmanaged[Stdcall]<nint, byte*, int, void*, uint, uint*, OverlappedHeader*, int>)Extension(
                socket, ConnectId);
        }

        Marshal.SetLastSystemError(0);
        int isDone = _connect(socket.Handle, address, addressLength, null, 0, null, operation);
        return Answer(isDone != 0, Marshal.GetLastSystemError(), 0, operation);
    }

    public Socket Accepted(Socket listener, Socket into)
    {
        nint context = listener.Handle;
        into.SetRawSocketOption(SocketLevel, UpdateAcceptContext, MemoryMarshal.AsBytes(new ReadOnlySpan<nint>(in context)));
        // The object that was made before does not know that it is connected; one that is made now asks.
        var accepted = new Socket(new SafeSocketHandle(into.Handle, ownsHandle: true));
        into.SafeHandle.SetHandleAsInvalid();
        return accepted;
    }

    public void Connected(Socket socket)
    {
        try
        {
            socket.SetRawSocketOption(SocketLevel, UpdateConnectContext, []);
        }
        catch (SocketException)
        {
            // The peer is gone again; the first receive reports it.
        }
    }

    public void Cancel(Socket socket, OverlappedHeader* operation) => WindowsLibrary.CancelIoEx(socket.Handle, operation);

    public SocketError ErrorOf(Socket socket, OverlappedHeader* operation)
    {
        // A socket that is closed has ended its operations.
        if (socket.SafeHandle.IsClosed)
        {
            return SocketError.OperationAborted;
        }

        uint bytes;
        uint flags;
        return WindowsLibrary.WSAGetOverlappedResult(socket.Handle, operation, &bytes, 0, &flags) != 0
            ? SocketError.Success
            : (SocketError)Marshal.GetLastPInvokeError();
    }

    public int Take(OverlappedEntry* entries, int most, TimeSpan timeout)
    {
        uint taken = 0;
        uint milliseconds = timeout == Timeout.InfiniteTimeSpan
            ? Infinite
            : (uint)Math.Clamp(Math.Ceiling(timeout.TotalMilliseconds), 0, int.MaxValue);
        if (WindowsLibrary.GetQueuedCompletionStatusEx(_port, entries, (uint)most, &taken, milliseconds, 0) != 0)
        {
            return (int)taken;
        }

        int error = Marshal.GetLastPInvokeError();
        return error == WaitTimeout
            ? 0
            : throw new TransportException($"GetQueuedCompletionStatusEx failed: {Marshal.GetPInvokeErrorMessage(error)}.");
    }

    public void Wake()
    {
        try
        {
            WindowsLibrary.PostQueuedCompletionStatus(_port, 0, 0, null);
        }
        catch (ObjectDisposedException)
        {
            // Nothing waits any more.
        }
    }

    public void Dispose() => _port.Dispose();

    private static SocketError Answer(bool isDone, int error, uint bytes, OverlappedHeader* operation)
    {
        if (!isDone)
        {
            return (SocketError)error;
        }

        operation->Bytes = bytes;
        return SocketError.Success;
    }

    private static void* Extension(Socket socket, Guid id)
    {
        void* function;
        uint bytes;
        int failed = WindowsLibrary.WSAIoctl(
            socket.Handle,
            WindowsLibrary.GetExtensionFunction,
            &id,
            (uint)sizeof(Guid),
            &function,
            (uint)sizeof(void*),
            &bytes,
            null,
            null);
        return failed == 0
            ? function
            : throw new TransportException($"The function {id} of the sockets is missing: {Marshal.GetLastPInvokeErrorMessage()}.");
    }
}
