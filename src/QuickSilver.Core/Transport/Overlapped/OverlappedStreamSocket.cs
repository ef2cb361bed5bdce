using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Overlapped;

// A TCP socket whose receive is under way while the stream is open, and whose send is while there is something to send. Both have memory of
// their own, as what a stream is given to send may not stay the system's.
//
// Invariant: bytes are sent in the order of Send, since one send is under way at a time.
internal sealed unsafe class OverlappedStreamSocket : IStreamSocket, IOverlappedOwner
{
    private const int ReceiveBytes = 16 << 10;
    private const int SendBytes = 64 << 10;
    private const int AddressBytes = 128;

    private readonly CompletionPortPoller _poller;
    private readonly Socket _socket;
    private readonly OverlappedOperation _receive;
    private OverlappedOperation? _connect;
    private OverlappedOperation? _send;
    // What a receive that has ended still has to give, from here on.
    private int _givenBytes;
    private SocketError? _decided;
    private SocketError _failure;
    private bool _isFailureReported;
    // A send took less than it was given, and the source waits for room.
    private bool _isRoomAwaited;
    private bool _isReceivingPaused;
    private bool _isClosed;

    public OverlappedStreamSocket(CompletionPortPoller poller, Socket socket, CompletionSource source)
    {
        _poller = poller;
        _socket = socket;
        Source = source;
        _receive = new OverlappedOperation(this, socket, sizeof(BufferPart) + ReceiveBytes);
        if (socket.Connected)
        {
            BeginReceive();
        }
    }

    public CompletionSource Source { get; }

    public bool IsDue => !_isClosed
        && (_decided is not null || HasReceived || HasRoomToReport || (_failure != SocketError.Success && !_isFailureReported));

    private bool HasReceived => _receive.IsEnded && !_isReceivingPaused;

    private bool HasRoomToReport => _isRoomAwaited && _send is { IsUnderWay: false };

    public void OnEnded(OverlappedOperation operation)
    {
        if (operation == _connect)
        {
            Decide(operation.Error);
        }
        else if (operation == _send)
        {
            operation.Take();
            Fail(operation.Error);
        }
        else
        {
            _givenBytes = 0;
        }
    }

    public void Connect(IPEndPoint? from, IPEndPoint to)
    {
        try
        {
            // The call wants a socket that is bound.
            _socket.Bind(from ?? new IPEndPoint(to.AddressFamily == AddressFamily.InterNetwork ? IPAddress.Any : IPAddress.IPv6Any, 0));
        }
        catch (SocketException refusal)
        {
            Decide(refusal.SocketErrorCode);
            return;
        }

        _connect = new OverlappedOperation(this, _socket, AddressBytes);
        var address = to.Serialize();
        address.Buffer.Span[..address.Size].CopyTo(new Span<byte>(_connect.Extra, AddressBytes));
        _poller.Begin(_connect);
        var answer = _poller.Calls.Connect(_socket, _connect.Extra, address.Size, _connect.Header);
        if (!_poller.HasBegun(_connect, answer) || _connect.IsEnded)
        {
            Decide(answer);
        }
    }

    public bool TryTakeConnected(out SocketError error)
    {
        error = _decided ?? SocketError.WouldBlock;
        if (_decided is null)
        {
            return false;
        }

        _decided = null;
        _connect?.Free();
        if (error == SocketError.Success)
        {
            _poller.Calls.Connected(_socket);
            BeginReceive();
        }

        return true;
    }

    public int Receive(Span<byte> into, out SocketError error)
    {
        error = _failure;
        if (_failure != SocketError.Success)
        {
            _isFailureReported = true;
            return 0;
        }

        if (!_receive.IsEnded)
        {
            error = SocketError.WouldBlock;
            return 0;
        }

        error = _receive.Error;
        int left = _receive.Bytes - _givenBytes;
        if (error != SocketError.Success || left == 0)
        {
            // The end, or a failure: no receive is begun again.
            _receive.Take();
            return 0;
        }

        int given = Math.Min(left, into.Length);
        new Span<byte>(Part(_receive)->Bytes + _givenBytes, given).CopyTo(into);
        _givenBytes += given;
        if (given == left)
        {
            _receive.Take();
            BeginReceive();
        }

        return given;
    }

    // The receive that is under way continues: so many bytes are taken from the kernel and wait here.
    public void PauseReceiving(bool isPaused)
    {
        _isReceivingPaused = isPaused;
        if (IsDue)
        {
            _poller.NoteDue(this);
        }
    }

    public int Send(ReadOnlySpan<byte> bytes, out SocketError error)
    {
        _isRoomAwaited = false;
        error = _failure;
        if (_failure != SocketError.Success)
        {
            _isFailureReported = true;
            return 0;
        }

        _send ??= new OverlappedOperation(this, _socket, sizeof(BufferPart) + SendBytes);
        if (_send.IsUnderWay)
        {
            _isRoomAwaited = true;
            return 0;
        }

        int taken = Math.Min(bytes.Length, SendBytes);
        var part = Part(_send);
        part->Length = (uint)taken;
        bytes[..taken].CopyTo(new Span<byte>(part->Bytes, taken));
        _poller.Begin(_send);
        error = _poller.Calls.Send(_socket, part, _send.Header);
        if (!_poller.HasBegun(_send, error))
        {
            return 0;
        }

        error = SocketError.Success;
        _isRoomAwaited = taken < bytes.Length;
        if (_send.IsEnded)
        {
            _send.Take();
            if (_isRoomAwaited)
            {
                _poller.NoteDue(this);
            }
        }

        return taken;
    }

    // A send is not cancelled: what it has of the stream must arrive before what follows. It is freed when it ends.
    public void Close()
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _poller.End(_receive);
            if (_connect is not null)
            {
                _poller.End(_connect);
            }

            _send?.Free();
        }
    }

    public override string ToString() => Source.ToString()!;

    private void BeginReceive()
    {
        var part = Part(_receive);
        part->Length = ReceiveBytes;
        _poller.Begin(_receive);
        var answer = _poller.Calls.Receive(_socket, part, _receive.Header);
        if (!_poller.HasBegun(_receive, answer))
        {
            Fail(answer);
        }
        else if (_receive.IsEnded)
        {
            _givenBytes = 0;
            _poller.NoteDue(this);
        }
    }

    // The memory behind the header: what the call is given, and the bytes behind that.
    private static BufferPart* Part(OverlappedOperation operation)
    {
        var part = (BufferPart*)operation.Extra;
        part->Bytes = (byte*)(part + 1);
        return part;
    }

    private void Decide(SocketError error)
    {
        _decided = error;
        _poller.NoteDue(this);
    }

    private void Fail(SocketError error)
    {
        if (error != SocketError.Success && _failure == SocketError.Success)
        {
            _failure = error;
            _poller.NoteDue(this);
        }
    }
}
