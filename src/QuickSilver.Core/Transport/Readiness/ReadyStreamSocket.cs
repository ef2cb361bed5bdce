using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Readiness;

// A TCP socket whose calls return at once, tried when the poller has reported it as ready.
internal sealed class ReadyStreamSocket : IStreamSocket
{
    private readonly ReadyPoller _poller;
    private readonly Socket _socket;
    private readonly CompletionSource _source;
    private SocketError? _decided;
    private Interest _interest;
    private bool _isReceivingPaused;

    public ReadyStreamSocket(ReadyPoller poller, Socket socket, CompletionSource source)
    {
        _poller = poller;
        _socket = socket;
        _source = source;
        _socket.Blocking = false;
        if (_socket.Connected)
        {
            Watch(Interest.Read);
        }
    }

    public void Connect(IPEndPoint? from, IPEndPoint to)
    {
        try
        {
            if (from is not null)
            {
                _socket.Bind(from);
            }

            _socket.Connect(to);
            Decide(SocketError.Success);
        }
        catch (SocketException refusal) when (refusal.SocketErrorCode is SocketError.WouldBlock or SocketError.InProgress)
        {
            Watch(Interest.Write);
        }
        catch (SocketException refusal)
        {
            Decide(refusal.SocketErrorCode);
        }
    }

    public bool TryTakeConnected(out SocketError error)
    {
        if (_decided is null && _socket.Poll(0, SelectMode.SelectWrite))
        {
            _decided = ErrorOfSocket();
        }
        else if (_decided is null && !OperatingSystem.IsLinux() && _socket.Poll(0, SelectMode.SelectError))
        {
            // Some systems do not call a socket writable that could not connect.
            _decided = ErrorOfSocket();
        }

        error = _decided ?? SocketError.WouldBlock;
        if (_decided is null)
        {
            return false;
        }

        if (error == SocketError.Success)
        {
            Watch(Interest.Read);
        }

        return true;
    }

    public int Receive(Span<byte> into, out SocketError error) => _socket.Receive(into, SocketFlags.None, out error);

    public void PauseReceiving(bool isPaused)
    {
        _isReceivingPaused = isPaused;
        Watch((_interest & Interest.Write) | Interest.Read);
    }

    public int Send(ReadOnlySpan<byte> bytes, out SocketError error)
    {
        int sent = _socket.Send(bytes, SocketFlags.None, out error);
        if (error is SocketError.WouldBlock or SocketError.NoBufferSpaceAvailable)
        {
            error = SocketError.Success;
            sent = 0;
        }

        Watch(sent < bytes.Length && error == SocketError.Success ? Interest.Read | Interest.Write : Interest.Read);
        return sent;
    }

    public void Close()
    {
        if (_interest != Interest.None)
        {
            _interest = Interest.None;
            _poller.Unregister(_socket);
        }
    }

    private void Decide(SocketError error)
    {
        _decided = error;
        _poller.Post(_source);
    }

    private SocketError ErrorOfSocket() =>
        (SocketError)(int)_socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error)!;

    private void Watch(Interest interest)
    {
        if (_isReceivingPaused)
        {
            interest &= ~Interest.Read;
        }

        if (interest == _interest)
        {
            return;
        }

        // A socket that is watched for nothing is named all the same when its peer has reset it.
        if (interest == Interest.None)
        {
            _poller.Unregister(_socket);
        }
        else if (_interest == Interest.None)
        {
            _poller.Register(_socket, _source, interest);
        }
        else
        {
            _poller.Change(_socket, interest);
        }

        _interest = interest;
    }
}

internal sealed class ReadyAcceptSocket : IAcceptSocket
{
    private readonly ReadyPoller _poller;
    private readonly Socket _socket;
    private readonly CompletionSource _source;
    private bool _isWatched;

    public ReadyAcceptSocket(ReadyPoller poller, Socket socket, CompletionSource source)
    {
        _poller = poller;
        _socket = socket;
        _source = source;
        _socket.Blocking = false;
        Pause(isPaused: false);
    }

    public Socket? TryAccept(out SocketError error)
    {
        try
        {
            // Asked first, because the managed call answers "there is none" with an exception.
            bool isAny = _socket.Poll(0, SelectMode.SelectRead);
            error = isAny ? SocketError.Success : SocketError.WouldBlock;
            return isAny ? _socket.Accept() : null;
        }
        catch (SocketException refusal)
        {
            error = refusal.SocketErrorCode;
            return null;
        }
    }

    public void Pause(bool isPaused)
    {
        if (isPaused == _isWatched)
        {
            _isWatched = !isPaused;
            if (isPaused)
            {
                _poller.Unregister(_socket);
            }
            else
            {
                _poller.Register(_socket, _source, Interest.Read);
            }
        }
    }

    public void Close() => Pause(isPaused: true);
}
